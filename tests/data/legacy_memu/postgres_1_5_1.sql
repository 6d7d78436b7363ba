--
-- PostgreSQL database dump
--


-- Dumped from database version 18.4
-- Dumped by pg_dump version 18.4

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET transaction_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: vector; Type: EXTENSION; Schema: -; Owner: -
--

CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public;


--
-- Name: EXTENSION vector; Type: COMMENT; Schema: -; Owner: -
--

COMMENT ON EXTENSION vector IS 'vector data type and ivfflat and hnsw access methods';


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: alembic_version; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.alembic_version (
    version_num character varying(32) NOT NULL
);


--
-- Name: category_items; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.category_items (
    id character varying NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    item_id character varying NOT NULL,
    category_id character varying NOT NULL,
    user_id character varying
);


--
-- Name: memory_categories; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.memory_categories (
    id character varying NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    name character varying NOT NULL,
    description text NOT NULL,
    embedding public.vector,
    summary text,
    user_id character varying
);


--
-- Name: memory_items; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.memory_items (
    id character varying NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    resource_id character varying,
    memory_type character varying NOT NULL,
    summary text NOT NULL,
    embedding public.vector,
    happened_at timestamp without time zone,
    extra jsonb,
    user_id character varying
);


--
-- Name: resources; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.resources (
    id character varying NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    url character varying NOT NULL,
    modality character varying NOT NULL,
    local_path character varying NOT NULL,
    caption text,
    embedding public.vector,
    user_id character varying
);


--
-- Data for Name: alembic_version; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: category_items; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.category_items VALUES ('4c005bb6-3950-48c2-a04d-aa8d5c1cb1a4', '2026-11-29 21:37:18.743422+00', '2026-11-29 21:37:18.743422+00', 'ab536ea8-39fd-4f3d-9c92-d5af0aa5529a', '1e604640-2912-4096-904d-87dac5d9509d', 'alice');
INSERT INTO public.category_items VALUES ('f0bd1ba1-1844-4d26-9463-ed272c94ed77', '2026-11-29 21:37:18.7636+00', '2026-11-29 21:37:18.7636+00', '6439dbaa-f7de-489f-9608-d6ce10923214', '1e604640-2912-4096-904d-87dac5d9509d', 'alice');
INSERT INTO public.category_items VALUES ('fe38d3cc-ec2f-4930-92ec-01bffd5f9d0b', '2026-11-29 21:37:18.771559+00', '2026-11-29 21:37:18.771559+00', '6439dbaa-f7de-489f-9608-d6ce10923214', '588f44c9-2eb3-4bf0-9148-40907c610b32', 'alice');
INSERT INTO public.category_items VALUES ('2836bf03-0f12-4a55-8280-28e5d5e3cdc8', '2026-11-29 21:37:18.790552+00', '2026-11-29 21:37:18.790552+00', '1abb7da9-9c81-43c6-99dc-759f22542df9', '3c833914-042f-43df-bac6-837680b4437f', 'alice');
INSERT INTO public.category_items VALUES ('1f9cfa0c-5b39-418b-8365-e120e22669e7', '2026-11-29 21:37:18.807472+00', '2026-11-29 21:37:18.807472+00', '9d21cc77-2c26-4c02-b356-631c50f2b1bf', '90bcfa2a-e163-440e-b1f3-e4c0e93bc4ce', 'alice');
INSERT INTO public.category_items VALUES ('ea6550ce-edb5-47ab-b106-b134fcd7192e', '2026-11-29 21:37:18.823831+00', '2026-11-29 21:37:18.823831+00', '9d21cc77-2c26-4c02-b356-631c50f2b1bf', '3c833914-042f-43df-bac6-837680b4437f', 'alice');
INSERT INTO public.category_items VALUES ('19fcd9dc-85a6-485c-a919-87a30c2705d8', '2026-11-29 21:37:18.847944+00', '2026-11-29 21:37:18.847944+00', '0d404d31-13d1-4914-a166-ee1ac73456be', '1e604640-2912-4096-904d-87dac5d9509d', 'alice');
INSERT INTO public.category_items VALUES ('6bc6bb5b-a9cb-4fdb-871c-9c34eace8491', '2026-11-29 21:37:18.950333+00', '2026-11-29 21:37:18.950333+00', '56425d8e-8e6c-4142-b0d9-d64737e59299', 'e997c529-077f-49ff-b3c4-5f2db1262cb8', 'bob');
INSERT INTO public.category_items VALUES ('c8af88fd-26c6-4fe2-8c10-2762a64b44de', '2026-11-29 21:37:18.97156+00', '2026-11-29 21:37:18.97156+00', '1e3ad17b-bb9c-4279-bbdb-e5a2eb783e71', 'e997c529-077f-49ff-b3c4-5f2db1262cb8', 'bob');
INSERT INTO public.category_items VALUES ('fd8fdf55-7b63-4a72-a03e-35a84f6bab86', '2026-11-29 21:37:18.980364+00', '2026-11-29 21:37:18.980364+00', '1e3ad17b-bb9c-4279-bbdb-e5a2eb783e71', '903d8691-bfba-4ea0-83bc-ef8e08403af0', 'bob');
INSERT INTO public.category_items VALUES ('d0724ea2-f81b-465f-8240-2c802a12d2a3', '2026-11-29 21:37:18.999381+00', '2026-11-29 21:37:18.999381+00', 'a840b289-eb5e-4fef-be82-f734f30e9b26', '5e152225-c83e-4e41-bc9a-045637c1fe58', 'bob');
INSERT INTO public.category_items VALUES ('bd789675-7e39-4341-8249-f11ca69e9d45', '2026-11-29 21:37:19.019875+00', '2026-11-29 21:37:19.019875+00', '80bec127-0f86-4a52-9b40-9f9bd61f5217', '2e38cefe-3a20-4654-af19-a8923775572c', 'bob');
INSERT INTO public.category_items VALUES ('b22a9df0-0a19-4300-98b7-4c4e99c6efca', '2026-11-29 21:37:19.027135+00', '2026-11-29 21:37:19.027135+00', '80bec127-0f86-4a52-9b40-9f9bd61f5217', '5e152225-c83e-4e41-bc9a-045637c1fe58', 'bob');
INSERT INTO public.category_items VALUES ('bc4294ee-0c8a-44ba-93e3-c30c4adf7969', '2026-11-29 21:37:19.035173+00', '2026-11-29 21:37:19.035173+00', 'b04050e3-9cea-44ad-a608-ce0be135765d', 'e997c529-077f-49ff-b3c4-5f2db1262cb8', 'bob');


--
-- Data for Name: memory_categories; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.memory_categories VALUES ('1e604640-2912-4096-904d-87dac5d9509d', '2026-11-29 21:37:18.679849+00', '2026-11-29 21:37:18.687903+00', 'work', 'How the team works', '[0.2166,0.4221,0.029,0.2217,0.4379,0.4958,0.2331,0.2309]', '# Work

Deploys go out on Tuesdays. Rollback uses the blue stack. 项目使用 PostgreSQL 15.', 'alice');
INSERT INTO public.memory_categories VALUES ('3c833914-042f-43df-bac6-837680b4437f', '2026-11-29 21:37:18.699716+00', '2026-11-29 21:37:18.70332+00', 'preferences', 'What Kim likes', '[0.2188,0.4596,0.2898,0.0215,0.8376,0.5565,0.6423,0.1859]', 'Kim prefers window seats.', 'alice');
INSERT INTO public.memory_categories VALUES ('90bcfa2a-e163-440e-b1f3-e4c0e93bc4ce', '2026-11-29 21:37:18.709648+00', '2026-11-29 21:37:18.709648+00', 'travel', 'Trips', '[0.9925,0.8599,0.1209,0.3327,0.7215,0.7112,0.9364,0.4221]', NULL, 'alice');
INSERT INTO public.memory_categories VALUES ('588f44c9-2eb3-4bf0-9148-40907c610b32', '2026-11-29 21:37:18.715278+00', '2026-11-29 21:37:18.715278+00', 'skills', '', '[0.83,0.6703,0.3034,0.5876,0.8825,0.8462,0.5053,0.589]', NULL, 'alice');
INSERT INTO public.memory_categories VALUES ('e997c529-077f-49ff-b3c4-5f2db1262cb8', '2026-11-29 21:37:18.88428+00', '2026-11-29 21:37:18.895784+00', 'work', 'How the team works', '[0.2553,0.8417,0.6731,0.0832,0.0167,0.0146,0.7556,0.2496]', '# Work

Deploys go out on Tuesdays. Rollback uses the blue stack. 项目使用 PostgreSQL 15.', 'bob');
INSERT INTO public.memory_categories VALUES ('5e152225-c83e-4e41-bc9a-045637c1fe58', '2026-11-29 21:37:18.903515+00', '2026-11-29 21:37:18.912213+00', 'preferences', 'What Kim likes', '[0.1095,0.6248,0.3444,0.0695,0.1596,0.5274,0.1681,0.2729]', 'Kim prefers window seats.', 'bob');
INSERT INTO public.memory_categories VALUES ('2e38cefe-3a20-4654-af19-a8923775572c', '2026-11-29 21:37:18.919921+00', '2026-11-29 21:37:18.919921+00', 'travel', 'Trips', '[0.7116,0.4547,0.322,0.4738,0.0236,0.3866,0.4209,0.188]', NULL, 'bob');
INSERT INTO public.memory_categories VALUES ('903d8691-bfba-4ea0-83bc-ef8e08403af0', '2026-11-29 21:37:18.931925+00', '2026-11-29 21:37:18.931925+00', 'skills', '', '[0.1088,0.8998,0.5101,0.2091,0.6056,0.817,0.0208,0.0179]', NULL, 'bob');


--
-- Data for Name: memory_items; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.memory_items VALUES ('ab536ea8-39fd-4f3d-9c92-d5af0aa5529a', '2026-11-29 21:37:18.724183+00', '2026-11-29 21:37:18.724192+00', '475a8592-6b5a-4976-889f-188ed09d07b4', 'knowledge', 'deploys go out on Tuesdays', '[0.0345,0.2427,0.7974,0.4143,0.173,0.5488,0.703,0.6745]', NULL, '{}', 'alice');
INSERT INTO public.memory_items VALUES ('6439dbaa-f7de-489f-9608-d6ce10923214', '2026-11-29 21:37:18.753002+00', '2026-11-29 21:37:18.753016+00', '475a8592-6b5a-4976-889f-188ed09d07b4', 'knowledge', 'rollback uses the blue stack', '[0.3747,0.439,0.5084,0.7784,0.5209,0.3933,0.4897,0.0296]', NULL, '{}', 'alice');
INSERT INTO public.memory_items VALUES ('1abb7da9-9c81-43c6-99dc-759f22542df9', '2026-11-29 21:37:18.783837+00', '2026-11-29 21:37:18.783847+00', 'b7fd38ce-97d2-4edf-a177-6df74cf2954f', 'profile', 'Kim prefers window seats', '[0.0435,0.7034,0.9832,0.5932,0.3936,0.1703,0.5022,0.9821]', NULL, '{}', 'alice');
INSERT INTO public.memory_items VALUES ('9d21cc77-2c26-4c02-b356-631c50f2b1bf', '2026-11-29 21:37:18.800075+00', '2026-11-29 21:37:18.800086+00', 'b7fd38ce-97d2-4edf-a177-6df74cf2954f', 'event', 'Kim flew to Lisbon in March', '[0.7705,0.5396,0.8603,0.2322,0.5138,0.9525,0.5778,0.4591]', NULL, '{}', 'alice');
INSERT INTO public.memory_items VALUES ('0d404d31-13d1-4914-a166-ee1ac73456be', '2026-11-29 21:37:18.831591+00', '2026-11-29 21:37:18.8316+00', '39f2a1a4-e660-4fc7-bc2b-c088e02a76ae', 'knowledge', '项目使用 PostgreSQL 15', '[0.2693,0.548,0.9571,0.0057,0.7837,0.8205,0.8862,0.7405]', NULL, '{}', 'alice');
INSERT INTO public.memory_items VALUES ('56425d8e-8e6c-4142-b0d9-d64737e59299', '2026-11-29 21:37:18.935029+00', '2026-11-29 21:37:18.935034+00', '57de5b70-6eda-4dc8-b4ff-ed49fafc8166', 'knowledge', 'deploys go out on Tuesdays', '[0.1465,0.7188,0.1602,0.7046,0.6782,0.5447,0.2206,0.9756]', NULL, '{}', 'bob');
INSERT INTO public.memory_items VALUES ('1e3ad17b-bb9c-4279-bbdb-e5a2eb783e71', '2026-11-29 21:37:18.963801+00', '2026-11-29 21:37:18.963811+00', '57de5b70-6eda-4dc8-b4ff-ed49fafc8166', 'knowledge', 'rollback uses the blue stack', '[0.7978,0.5166,0.2232,0.6485,0.3949,0.5758,0.3212,0.6309]', NULL, '{}', 'bob');
INSERT INTO public.memory_items VALUES ('a840b289-eb5e-4fef-be82-f734f30e9b26', '2026-11-29 21:37:18.99161+00', '2026-11-29 21:37:18.991619+00', 'ee8ad940-43dc-4c2a-b6ff-65db8a61d0cc', 'profile', 'Kim prefers window seats', '[0.0588,0.2986,0.9679,0.8755,0.3064,0.8585,0.3104,0.9393]', NULL, '{}', 'bob');
INSERT INTO public.memory_items VALUES ('80bec127-0f86-4a52-9b40-9f9bd61f5217', '2026-11-29 21:37:19.007874+00', '2026-11-29 21:37:19.007886+00', 'ee8ad940-43dc-4c2a-b6ff-65db8a61d0cc', 'event', 'Kim flew to Lisbon in March', '[0.7438,0.4162,0.2524,0.0085,0.8787,0.0379,0.8194,0.9622]', NULL, '{}', 'bob');
INSERT INTO public.memory_items VALUES ('b04050e3-9cea-44ad-a608-ce0be135765d', '2026-11-29 21:37:19.031142+00', '2026-11-29 21:37:19.031147+00', 'e76a54f8-d0b7-42d1-8cee-6f6cd7e45dd3', 'knowledge', '项目使用 PostgreSQL 15', '[0.5703,0.1715,0.8678,0.9738,0.704,0.5089,0.378,0.3469]', NULL, '{}', 'bob');


--
-- Data for Name: resources; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.resources VALUES ('475a8592-6b5a-4976-889f-188ed09d07b4', '2026-11-29 21:37:18.642553+00', '2026-11-29 21:37:18.642572+00', 'notes/deploy.md', 'document', 'notes/deploy.md', 'How we deploy', '[0.1344,0.8474,0.7638,0.2551,0.4954,0.4495,0.6516,0.7887]', 'alice');
INSERT INTO public.resources VALUES ('b7fd38ce-97d2-4edf-a177-6df74cf2954f', '2026-11-29 21:37:18.665763+00', '2026-11-29 21:37:18.665772+00', 'chats/kim-2026-03.json', 'conversation', 'chats/kim-2026-03.json', 'Kim talks about travel', '[0.0939,0.0283,0.8358,0.4328,0.7623,0.0021,0.4454,0.7215]', 'alice');
INSERT INTO public.resources VALUES ('39f2a1a4-e660-4fc7-bc2b-c088e02a76ae', '2026-11-29 21:37:18.671635+00', '2026-11-29 21:37:18.671645+00', 'docs/数据库.md', 'document', 'docs/数据库.md', '数据库选择', '[0.2288,0.9453,0.9014,0.0306,0.0254,0.5414,0.9391,0.3812]', 'alice');
INSERT INTO public.resources VALUES ('57de5b70-6eda-4dc8-b4ff-ed49fafc8166', '2026-11-29 21:37:18.859686+00', '2026-11-29 21:37:18.859696+00', 'notes/deploy.md', 'document', 'notes/deploy.md', 'How we deploy', '[0.8091,0.5187,0.5614,0.4261,0.0561,0.87,0.57,0.1998]', 'bob');
INSERT INTO public.resources VALUES ('ee8ad940-43dc-4c2a-b6ff-65db8a61d0cc', '2026-11-29 21:37:18.867754+00', '2026-11-29 21:37:18.867763+00', 'chats/kim-2026-03.json', 'conversation', 'chats/kim-2026-03.json', 'Kim talks about travel', '[0.5047,0.4849,0.3568,0.3461,0.5385,0.6235,0.6125,0.4581]', 'bob');
INSERT INTO public.resources VALUES ('e76a54f8-d0b7-42d1-8cee-6f6cd7e45dd3', '2026-11-29 21:37:18.87585+00', '2026-11-29 21:37:18.87586+00', 'docs/数据库.md', 'document', 'docs/数据库.md', '数据库选择', '[0.028,0.2296,0.1772,0.5845,0.861,0.7984,0.7971,0.8164]', 'bob');


--
-- Name: alembic_version alembic_version_pkc; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.alembic_version
    ADD CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num);


--
-- Name: category_items category_items_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.category_items
    ADD CONSTRAINT category_items_pkey PRIMARY KEY (id);


--
-- Name: memory_categories memory_categories_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.memory_categories
    ADD CONSTRAINT memory_categories_pkey PRIMARY KEY (id);


--
-- Name: memory_items memory_items_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.memory_items
    ADD CONSTRAINT memory_items_pkey PRIMARY KEY (id);


--
-- Name: resources resources_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.resources
    ADD CONSTRAINT resources_pkey PRIMARY KEY (id);


--
-- Name: idx_category_items_unique; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX idx_category_items_unique ON public.category_items USING btree (item_id, category_id);


--
-- Name: ix_category_items__scope; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX ix_category_items__scope ON public.category_items USING btree (user_id);


--
-- Name: ix_category_items_id; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX ix_category_items_id ON public.category_items USING btree (id);


--
-- Name: ix_memory_categories__scope; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX ix_memory_categories__scope ON public.memory_categories USING btree (user_id);


--
-- Name: ix_memory_categories_id; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX ix_memory_categories_id ON public.memory_categories USING btree (id);


--
-- Name: ix_memory_categories_name; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX ix_memory_categories_name ON public.memory_categories USING btree (name);


--
-- Name: ix_memory_items__scope; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX ix_memory_items__scope ON public.memory_items USING btree (user_id);


--
-- Name: ix_memory_items_id; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX ix_memory_items_id ON public.memory_items USING btree (id);


--
-- Name: ix_resources__scope; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX ix_resources__scope ON public.resources USING btree (user_id);


--
-- Name: ix_resources_id; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX ix_resources_id ON public.resources USING btree (id);


--
-- Name: category_items category_items_category_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.category_items
    ADD CONSTRAINT category_items_category_id_fkey FOREIGN KEY (category_id) REFERENCES public.memory_categories(id) ON DELETE CASCADE;


--
-- Name: category_items category_items_item_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.category_items
    ADD CONSTRAINT category_items_item_id_fkey FOREIGN KEY (item_id) REFERENCES public.memory_items(id) ON DELETE CASCADE;


--
-- Name: memory_items memory_items_resource_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.memory_items
    ADD CONSTRAINT memory_items_resource_id_fkey FOREIGN KEY (resource_id) REFERENCES public.resources(id) ON DELETE CASCADE;


--
-- PostgreSQL database dump complete
--


