"""Short word lists, English and Chinese: words that separate phrases, and names of persons, places and works. Names
that are missing here are not recognised; the lexical tools of ERNIE's authors cover more."""

from __future__ import annotations

from collections.abc import Iterable

from minibert.text.characters import is_punctuation
from minibert.tokenizer import Tokenizer

# The persons and places of the toy world
GIRLS = ["anna", "clara", "ella", "emma", "lucy", "mei", "nora", "priya", "rosa", "sofia"]
BOYS = ["ben", "david", "felix", "hugo", "jack", "kenji", "leo", "omar", "paul", "tom"]
PLACES = "bakery beach bridge castle farm harbour library market museum park school station theatre zoo"
BETWEEN = """
a about above after again all also always am among an and any are around as at away be because been before behind
below between both but by can could did do does down during each either every few for from had has have he her here
hers herself him himself his how i if in into is it its itself just may me might more most must my near neither
never no nor not now of off often on once only or other our out over own per shall she should since so some such
than that the their them then there these they this those though through to too under until up upon us very was we
were what when where which while who whom why will with within without would yet you your
的 了 在 是 和 与 及 或 也 都 就 而 但 但是 因为 所以 如果 我 你 他 她 它 我们 你们 他们
这 那 这个 那个 这些 那些 一个 有 没有 不 很 把 被 从 到 对 对于 为 为了 以 于 之 其 着
过 吗 呢 吧 啊 上 下 里 中 用 让 给 向 又 还 才 只 会 能 可以 要 去 来 说 后 前 时 等
"""
NAMES = {  # by kind and language; names of one kind can replace each other
    "city": """
new york|new york city|los angeles|san francisco|hong kong|buenos aires|rio de janeiro|london|paris|berlin|rome|madrid|
vienna|moscow|tokyo|beijing|shanghai|cairo|delhi|sydney""",
    "land": """
new zealand|south africa|north america|south america|united states|united kingdom|great britain|africa|asia|europe|
france|germany|italy|spain|england|china|japan|india|russia""",
    "river": "the nile|the danube|the thames",
    "mountains": "the alps",
    "person": """
albert einstein|isaac newton|marie curie|charles darwin|galileo galilei|william shakespeare|jane austen|
leonardo da vinci|pablo picasso|johann sebastian bach|wolfgang amadeus mozart|ludwig van beethoven|napoleon bonaparte|
abraham lincoln|alfred hitchcock|charlie chaplin""",
    "work": "star wars",
    "band": "the beatles",
    "城市": "北京|上海|南京|广州|杭州|武汉|西安|成都|香港|哈尔滨",
    "地区": "黑龙江|中国|美国|英国|法国|德国|日本|印度|俄罗斯",
    "大学": "北京大学|清华大学",
    "江河": "长江|黄河|珠江",
    "古迹": "长城|故宫|兵马俑",
    "湖": "西湖",
    "山": "泰山|黄山|珠穆朗玛峰",
    "人": "李白|杜甫|白居易|苏轼|曹雪芹|鲁迅|老舍|孔子|孟子|爱因斯坦|牛顿|达尔文|居里夫人|贝多芬|莫扎特|姚明",
    "作品": "红楼梦|西游记|水浒传|三国演义",
    "节日": "春节|中秋节|端午节",
}


def between_phrases(tokenizer: Tokenizer) -> frozenset[tuple[int, ...]]:
    """The words of BETWEEN and all punctuation, as the tokenizer's ids."""
    marks = {
        (number,)
        for piece, number in tokenizer.ids.items()
        if piece not in tokenizer.special_tokens and all(map(is_punctuation, piece))
    }
    return frozenset(known(tokenizer, BETWEEN.split()) | marks)


def names_in(tokenizer: Tokenizer) -> dict[tuple[int, ...], str]:
    """The ids of each name → its kind: NAMES, and the persons and places of the toy world."""
    kinds = {kind: texts.replace("\n", "").split("|") for kind, texts in NAMES.items()}
    kinds["first name"] = [*GIRLS, *BOYS]
    kinds["place"] = [f"the {place}" for place in PLACES.split()]
    return {name: kind for kind, texts in kinds.items() for name in sorted(known(tokenizer, texts))}


def known(tokenizer: Tokenizer, texts: Iterable[str]) -> set[tuple[int, ...]]:
    """The ids of each text, without texts that would contain [UNK]."""
    return {tuple(ids) for ids in tokenizer.encode_bulk(texts) if ids and tokenizer.unk_id not in ids}
