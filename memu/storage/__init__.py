"""The store: SQLAlchemy Core tables, the database, the scope-bound repository, and search behind a port."""
