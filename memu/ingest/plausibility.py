"""How well a decoded text looks like writing, for telling encodings apart.

A wrong decoding of Chinese, Japanese or Korean gives rare characters in place of the few hundred that most text
consists of; of Cyrillic, words of swapped case; of Western text, signs inside words or whole words of accents.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

__all__ = ["ENCODINGS", "rate_text"]

# The most frequent characters of general text, from public frequency lists (Jun Da's for Chinese, the National
# Institute's of the Korean Language for syllables), about half of any text.
_SIMPLIFIED = frozenset(
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方"
    "多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心本前开但因只从想实日军者意无力它与长把机十民第公此已工使情"
    "明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老"
    "给世位次度门任常先海通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受"
    "目太量再感建务做接必场件计管期市直德资命山金指克许统区保至队形社便空决治展马科司五基眼书非则听白却界达光放强即像难且权"
    "思王象完设式色路记南品住告类求据程北边死张该交规万取拉格望觉术领共确传师观清今切院让识候带导争运笔项目记忆数据库用户设"
    "置文件夹命令参数选项系统安装配置服务器网络进程删除查看输出显示"
)
_TRADITIONAL = frozenset(
    "的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡用道行所然家種事成方"
    "多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心本前開但因只從想實日軍者意無力它與長把機十民第公此已工使情"
    "明性知全三又關點正業外將兩高間由問很最重並物手應戰向頭文體政美相見被利什二等產或新己制身果加西斯月話合回特代內信表化老"
    "給世位次度門任常先海通教兒原東聲提立及比員解水名真論處走義各入幾口認條平系氣題活爾更別打女變四神總何電數安少報才結反受"
    "目太量再感建務做接必場件計管期市直資命山金指許統區保至隊形社便空決治展馬科司五基眼書非則聽白卻界達光放強即像難且權思王"
    "象完設式色路記南品住告類求據程北邊死張該交規萬取拉格望覺術領共確傳師觀清今切院讓識候帶導爭運筆項檔案資料庫使用者設定"
)
_KANJI = frozenset(
    "日一国人年大十二本中長出三時行見月後前生五間上東四今金九入学高円子外八六下来気小七山話女北午百書先名川千水半男西電校語"
    "土木聞食車何南万毎白天母火右読友左休父雨会同事自社発者地業方新場員立開手力問代明動京目通言理体田主題意不作用度強公持野"
    "以思家世多正安院心界教文元重近考画海売知道集別物使品計死特私始朝運終台広住無真有口少町料工建空急止送切転研足究楽起着店"
    "病質待試族銀早映親験英医仕去味写字答夜音注帰古歌買悪図週室歩風紙黒花春赤青館屋色走秋夏習駅洋旅服夕借曜飲肉貸堂鳥飯勉"
    "冬昼茶弟牛魚兄犬妹姉漢議決選択設定表示保存記録齢所前佐藤太郎橋名住東京大阪屋"
)
_KANA = frozenset(map(chr, range(0x3041, 0x30FF)))
_HANGUL = frozenset(
    "이다는을에의가하고은를로지도한사기대리서자인나어해시스아정과그일원으전수들있게부보주장면라니였었습성제구와여비상만선치조"
    "마신공미동연국유오경관것안소세분요무학화계방진실우영위할동체현중같적생없말려러모식드결단데저내입등물통"
)
_WESTERN = frozenset("äöüßÄÖÜéèêëàâçùûîïôœæáíóúñ¿¡ãõåøÅØÆÉÀÇÑÁÍÓÚÈÊìòÃÕÎÔ€£§°²³µ·©®«»“”„‘’‚–—…•½¼×±ªº\xa0ýðþÞÐÝ")
_CENTRAL = frozenset("ąćęłńóśźżĄĆĘŁŃÓŚŹŻáčďéěíňřšťúůýžÁČĎÉĚÍŇŘŠŤÚŮÝŽőűŐŰöüäßÖÜÄôľĺŕăâîșțşţđĐ€§°©®«»“”„‘’‚–—…•\xa0")

_TURKISH = frozenset("çğıöşüÇĞİÖŞÜâîû€§°©®«»“”‘’–—…•\xa0")
_CYRILLIC = frozenset("оеаинтсрвлкмдпуяыьізїєОЕАИНТСРВЛКМДПУЯІ")
_GREEK = frozenset("αοιετνσηρκπυλμςάέήίόύώΑΟΙΕΤΝΣΗΡΚΠΥΛΜ")
_HEBREW = frozenset(map(chr, range(0x5D0, 0x5EB)))

_HAN = re.compile("[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_LONE_HAN = re.compile(
    "(?<=[A-Za-z])[\u3400-\u9fff](?![\u3040-\u9fff\uac00-\ud7a3])"
    "|(?<![\u3040-\u9fff\uac00-\ud7a3])[\u3400-\u9fff](?=[A-Za-z])"
)
_ACCENT_RUN = re.compile("[^\x00-\x7f\\W\\d_]{4,}")
_LONE_LETTER = re.compile("(?<![^\\W\\d_])[^\x00-\x7f\\W\\d_àáâèéêíîóöúûåæøÀÁÂÈÉÊÍÎÓÖÚÛÅÆØ](?![^\\W\\d_])")
_GLUED = re.compile("[A-Za-z][\u0370-\u06ff]|[\u0370-\u06ff][A-Za-z]")
# Signs that stand inside words.
_JOINERS = frozenset("’‘´·–—‑\xad")
_PUNCTUATION = frozenset(
    "、。，．：；？！「」『』（）《》〈〉【】“”‘’…—～·　％／＋－＝＊＃＆＠ー・〜０１２３４５６７８９"
)


def rate_text(text: str, encoding: str) -> float:
    """How plausible a sample is as writing in the languages of that encoding, about 0 (noise) to 1 (sure).

    Args:
        encoding: one of :data:`ENCODINGS`; the text is what a sample of bytes decodes to in it.
    """
    foreign = [char for char in text if char > "\x7f"]
    if not foreign:
        return 0.0
    if any(unicodedata.category(char) in ("Cc", "Cn", "Co") for char in foreign):
        return 0.0
    return _RATINGS[encoding](text, foreign)


def _rate_ideographs(
    frequent: frozenset[str], level_one: Callable[[str], bool]
) -> Callable[[str, list[str]], float]:
    def rate(text: str, foreign: list[str]) -> float:
        weight = 0.0
        for char in foreign:
            if char in frequent or char in _PUNCTUATION:
                weight += 1
            elif level_one(char) or unicodedata.category(char)[0] == "S":
                weight += 0.55
            else:
                weight -= 0.5
        return (weight - len(_LONE_HAN.findall(text))) / len(foreign)

    return rate


def _is_common_simplified(char: str) -> bool:
    return _lead_byte(char, "gb2312") in range(0xB0, 0xD8)


def _is_common_traditional(char: str) -> bool:
    return _lead_byte(char, "big5") in range(0xA4, 0xC7)


def _is_japanese(char: str) -> bool:
    return _lead_byte(char, "euc_jp") in range(0xB0, 0xD0)


def _is_korean(char: str) -> bool:
    return _lead_byte(char, "euc_kr") in range(0xB0, 0xC9)


def _lead_byte(char: str, encoding: str) -> int:
    try:
        return char.encode(encoding)[0]
    except UnicodeEncodeError:
        return 0


def _rate_latin(letters: frozenset[str], weight: float = 1.0) -> Callable[[str, list[str]], float]:
    def rate(text: str, foreign: list[str]) -> float:
        if _HAN.search(text):
            return 0.0
        total = sum(_weigh_latin(char, letters, weight) for char in foreign)
        runs = sum(len(match) for match in _ACCENT_RUN.findall(text))
        odd = _count_misfits(text) + 0.7 * len(_LONE_LETTER.findall(text))
        return (total - runs - odd) / len(foreign)

    return rate


def _weigh_latin(char: str, letters: frozenset[str], weight: float) -> float:
    if char in letters:
        # Western text is by far the commonest: what only another region writes has to make up for that.
        return 1.0 if char in _WESTERN else weight
    return 0.3 if char.isalpha() else 0.0


def _rate_alphabet(frequent: frozenset[str]) -> Callable[[str, list[str]], float]:
    script = {unicodedata.name(char).split()[0] for char in frequent}.pop()

    def rate(text: str, foreign: list[str]) -> float:
        own = [char for char in foreign if unicodedata.name(char, "").startswith(script)]
        if not own:
            return 0.0
        weights = sum(1.0 if char in frequent else 0.5 for char in own)
        # Words in capitals exist, but the wrong one of two Cyrillic encodings swaps the case of nearly all.
        case = 0.3 if sum(map(str.isupper, own)) * 2 > len(own) else 1.0
        signs = sum(char in _WESTERN and not char.isalpha() for char in foreign)
        odd = 2 * len(_GLUED.findall(text)) + _count_misfits(text)
        return (case * weights + signs - odd) / len(foreign)

    return rate


def _count_misfits(text: str) -> int:
    """Signs with a letter on both sides, and capitals after a small letter, one of the two beyond ASCII."""
    misfits = 0
    for before, char, after in zip(text, text[1:], text[2:], strict=False):
        if char > "\x7f" and not char.isalpha():
            misfits += char not in _JOINERS and before.isalpha() and after.isalpha()
        elif before.islower() and char.isupper():
            misfits += before > "\x7f" or char > "\x7f"
    return misfits


_RATINGS: dict[str, Callable[[str, list[str]], float]] = {
    "cp1252": _rate_latin(_WESTERN),
    "cp1250": _rate_latin(_CENTRAL, 0.9),
    "iso8859_2": _rate_latin(_CENTRAL, 0.9),
    "cp1254": _rate_latin(_TURKISH),
    "gb18030": _rate_ideographs(_SIMPLIFIED, _is_common_simplified),
    "big5": _rate_ideographs(_TRADITIONAL, _is_common_traditional),
    "cp932": _rate_ideographs(_KANJI | _KANA, _is_japanese),
    "euc_jp": _rate_ideographs(_KANJI | _KANA, _is_japanese),
    "cp949": _rate_ideographs(_HANGUL, _is_korean),
    "cp1251": _rate_alphabet(_CYRILLIC),
    "koi8_r": _rate_alphabet(_CYRILLIC),
    "cp1253": _rate_alphabet(_GREEK),
    "cp1255": _rate_alphabet(_HEBREW),
}

ENCODINGS = tuple(_RATINGS)
"""What is told apart: the encodings that text files of the last decades were written in most."""
