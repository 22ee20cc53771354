"""The words and the plots of the toy world: data only, read by `minibert/toy/world.py`.

A plot is a line of words. `{domain.form}` is a slot: two slots of one plot with the same name (`{place1}` … `{place1}`)
show the same thing; `A` and `B` are the story's two people, `AB` both; `!kind` names the kind of determination where
the usual one does not fit; `before@place1@place2!order` is a fixed word that these two determine; `a/an` fits itself to
the next word; `|` starts a new clause; what follows `//` is told at the end of the story.
"""

from minibert.text import word_lists

GIRLS, BOYS = word_lists.GIRLS, word_lists.BOYS

# Lists from which a slot takes any word. Lists that follow `a/an` have at least two words with a vowel first; in no
# word do the first letter and its sound disagree (honest, useful).
WORDS = {
    "place": ("NOUN", word_lists.PLACES),
    "colour": ("ADJ", "black blue brown green pink purple red white yellow"),
    "toy": ("NOUN", "ball bell boat book doll drum kite lamp puzzle ring robot scarf"),
    "bed": ("NOUN", "bed bench carpet chair desk sofa table"),
    "mirror": ("NOUN", "lake mirror pond window"),
    "door": ("NOUN", "box cupboard door gate"),
    "meal": ("NOUN", "breakfast dinner lunch pie salad sandwich soup"),
    "beast": ("NOUN", "camel deer fox monkey parrot snake spider turtle whale wolf"),
    "day": ("NOUN", "afternoon day evening morning night"),
    "goods": ("NOUN", "apples cookies eggs flowers nuts pears shells stamps"),  # always more than one
    "nature": ("ADJ", "active alert brave clever eager earnest funny kind"),
    "close": ("ADJ", "close dear good old"),
    "look": ("ADJ", "big dusty empty heavy old pretty small ugly"),
    "taste": ("ADJ", "excellent good hot tiny unusual"),
    "fine": ("ADJ", "fine good lovely perfect"),
    "then": ("ADV", "later soon then"),
    "went": ("VERB", "cycled hurried ran walked went"),
    "saw": ("VERB", "explored painted saw visited"),
    "watched": ("VERB", "admired noticed saw watched"),
    "got": ("VERB", "bought found got made"),
    "took": ("VERB", "borrowed chose found took"),
    "liked": ("VERB", "kept liked needed wanted"),
    "smiled": ("VERB", "danced laughed sang smiled waved"),
    "slept": ("VERB", "rested slept worked"),
}

# Things that come alone or in numbers.
NOUNS = {
    "thing": {
        "ball": "balls",
        "bell": "bells",
        "boat": "boats",
        "book": "books",
        "doll": "dolls",
        "drum": "drums",
        "kite": "kites",
        "lamp": "lamps",
        "puzzle": "puzzles",
        "ring": "rings",
        "robot": "robots",
        "box": "boxes",
        "brush": "brushes",
        "scarf": "scarves",
    },
    "key": {"card": "cards", "handle": "handles", "key": "keys"},
}

# Causes and what follows from each; several causes share an effect, so that the cause itself stays open.
WEATHER = {  # the day was …, so she took her …
    "coat": "cold frosty snowy",
    "hat": "bright hot sunny",
    "kite": "breezy windy",
    "lantern": "dark foggy misty",
    "umbrella": "rainy stormy wet",
}
EVENTS = {  # after the … she was …, so she …
    ("tired", "slept"): "climb hike march race",
    ("happy", "danced"): "feast holiday party wedding",
    ("sad", "cried"): "accident funeral quarrel",
    ("afraid", "hid"): "earthquake nightmare thunder",
    ("proud", "smiled"): "award prize victory",
}
NEEDS = {  # he was …, so she gave him some …
    "bread": "hungry starving",
    "medicine": "ill sick",
    "money": "penniless poor",
    "tea": "cold freezing",
    "water": "parched thirsty",
}
FALLS = {  # she dropped the … and it …
    "broke": {"bottle": "bottles", "cup": "cups", "jar": "jars", "plate": "plates", "vase": "vases"},
    "floated": {"balloon": "balloons", "feather": "feathers", "leaf": "leaves", "petal": "petals"},
    "rolled": {"coin": "coins", "marble": "marbles", "melon": "melons", "wheel": "wheels"},
}
TOOLS = {  # she could not find the …, so she could not …
    "cook": {"pan": "pans", "pot": "pots"},
    "dig": {"shovel": "shovels", "spade": "spades"},
    "paint": {"brush": "brushes", "palette": "palettes"},
    "pay": {"purse": "purses", "wallet": "wallets"},
    "ride": {"bike": "bikes", "scooter": "scooters"},
    "write": {"pen": "pens", "pencil": "pencils"},
}
SOUNDS = {  # every day the … bark
    ("bark", "barks"): {"dog": "dogs", "puppy": "puppies"},
    ("bleat", "bleats"): {"goat": "goats", "lamb": "lambs"},
    ("croak", "croaks"): {"frog": "frogs", "toad": "toads"},
    ("meow", "meows"): {"cat": "cats", "kitten": "kittens"},
    ("moo", "moos"): {"calf": "calves", "cow": "cows"},
    ("neigh", "neighs"): {"horse": "horses", "pony": "ponies"},
    ("quack", "quacks"): {"duck": "ducks", "duckling": "ducklings"},
    ("roar", "roars"): {"lion": "lions", "tiger": "tigers"},
}
NUMBERS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
GAINS = ["bought", "found", "received"]  # one more
LOSSES = ["broke", "dropped", "lost", "sold"]  # one fewer

# Words that stand in the plots themselves: part of speech (Universal Dependencies), number, tense.
FIXED = {
    ".": ("PUNCT", None, None),
    ",": ("PUNCT", None, None),
    **dict.fromkeys(["the", "a", "every", "some"], ("DET", None, None)),
    **dict.fromkeys(["at", "to", "from", "near", "with", "after", "before", "for", "in", "under"], ("ADP", None, None)),
    **dict.fromkeys(["and", "but", "so"], ("CCONJ", None, None)),
    "while": ("SCONJ", None, None),
    **dict.fromkeys(
        ["now", "first", "then", "soon", "together", "there", "home", "still", "alone"], ("ADV", None, None)
    ),
    "not": ("PART", None, None),
    "one": ("NUM", "sing", None),
    "could": ("AUX", None, "past"),
    "was": ("AUX", "sing", "past"),
    "were": ("AUX", "plur", "past"),
    "has": ("VERB", "sing", "pres"),
    **dict.fromkeys(["had", "gave", "looked", "found", "took", "dropped", "lost"], ("VERB", None, "past")),
    **dict.fromkeys(["helped", "met", "made", "opened", "lived", "searched"], ("VERB", None, "past")),
    "find": ("VERB", None, None),
    "it": ("PRON", "sing", None),
    "they": ("PRON", "plur", None),
    "friends": ("NOUN", "plur", None),
    **dict.fromkeys(["evening"], ("NOUN", "sing", None)),
}

# The properties of a slot's form: part of speech, tense, the kind of determination, and the forms of the same thing
# that together determine it. `word` is the thing's own word; for a list in WORDS, its part of speech is the list's.
FORMS = {
    "word": ("NOUN", None, "thing", ("word",)),
    "weather.word": ("ADJ", None, None, ()),
    "need.word": ("ADJ", None, None, ()),
    "place.word": ("NOUN", None, "place", ("word",)),
    "colour.word": ("ADJ", None, "colour", ("word",)),
    "toy.word": ("NOUN", None, "thing", ("word",)),
    "AB.he": ("PRON", None, "pronoun", ("A.name", "B.name")),
    "AB.himself": ("PRON", None, "reflexive", ("A.name", "B.name")),
    "name": ("PROPN", None, "name", ("name",)),
    "he": ("PRON", None, "pronoun", ("name",)),
    "him": ("PRON", None, "pronoun", ("name",)),
    "his": ("PRON", None, "pronoun", ("name",)),
    "himself": ("PRON", None, "reflexive", ("name",)),
    "girl": ("NOUN", None, "gender", ("name",)),
    "sister": ("NOUN", None, "gender", ("name",)),
    "is": ("AUX", "pres", "agreement", ("he",)),
    "they": ("PRON", None, "pronoun", ("word",)),
    "them": ("PRON", None, "pronoun", ("word",)),
    "was": ("AUX", "past", "agreement", ("word",)),
    "weather.thing": ("NOUN", None, "effect", ("word",)),
    "event.state": ("ADJ", None, "effect", ("word",)),
    "event.act": ("VERB", "past", "effect", ("state",)),
    "need.gift": ("NOUN", None, "effect", ("word",)),
    "fall.effect": ("VERB", "past", "effect", ("word",)),
    "tool.use": ("VERB", None, "effect", ("word",)),
    "animal.sound": ("VERB", "pres", "agreement", ("word",)),
    "count.n": ("NUM", None, "quantity", ("verb", "m")),
    "count.verb": ("VERB", "past", None, ()),
    "count.m": ("NUM", None, "quantity", ("n", "verb")),
    "sum.n": ("NUM", None, "quantity", ("m", "s")),
    "sum.m": ("NUM", None, "quantity", ("n", "s")),
    "sum.s": ("NUM", None, "quantity", ("n", "m")),
}

KINDS = {
    "name": "the same person is named again",
    "pronoun": "he, she, it, they … stands for someone or something named elsewhere",
    "reflexive": "himself, herself, themselves: the one who acts",
    "gender": "girl or boy, sister or brother: the name tells",
    "agreement": "singular or plural, and for an animal its sound: the subject tells, not the nearest noun",
    "place": "the same place again: where someone must be after going there",
    "thing": "the same thing again",
    "colour": "the colour it was said to have",
    "possession": "whoever received it, or bought it, has it",
    "effect": "what follows from a cause",
    "quantity": "a number that follows from the other numbers",
    "order": "before or after: the order of events",
    "article": "a or an: the next word's sound",
}

OPENINGS = [
    "{A} was a/an {nature} {A.girl} .",
    "{A} and {B} were {close} friends .",
    "{A} lived near the {place} with {A.his} {B.sister} {B} .",
    "one {day} , {A} met {B} at the {place} .",
]

SCENES = {
    "gift": [
        "{then} {A} gave the {thing} to {B} . now {B!possession} has {thing.them} .",
        "{A} gave the {colour} {thing} to {B} . // in the evening {B!possession} still had the {colour} {thing} .",
    ],
    "shopping": [
        "{A} {got1} a {colour1} {toy1} | and {B} {got2} a {colour2} {toy2} . the {toy1} was {colour1} .",
        "{A} {got1} a {colour1} {toy1} | and {B} {got2} a {colour2} {toy2} . the {toy2} was {colour2} .",
        "{A} {got1} a {toy1} | and {B} {got2} a {toy2} . // {then} {A!possession} lost the {toy1} .",
        "{A} {got1} a {toy1} | and {B} {got2} a {toy2} . // {then} {B!possession} lost the {toy2} .",
    ],
    "search": ["{A} {went} to the {place} . {B} looked for {A.him} | and found {A.him} at the {place} ."],
    "walk": [
        "{A} {went} from the {place1} to the {place2} . now {A.he} {A.is} at the {place2} .",
        "{A} and {B} {went} from the {place1} to the {place2} . now {AB.he} {AB.is} at the {place2} .",
    ],
    "trip": [
        "{A} {went} to the {place} . there {A.he} {watched} a/an {look} {beast} .",
        "{A} and {B} {went} to the {place} . there {AB.he} {watched} a/an {look} {beast} .",
    ],
    "order": [
        "first {A} {saw1} the {place1} , | then {A.he} {saw2} the {place2} . "
        "{A.he} was at the {place1} before@place1@place2!order the {place2} .",
        "first {A} {saw1} the {place1} , | then {A.he} {saw2} the {place2} . "
        "{A.he} was at the {place2} after@place1@place2!order the {place1} .",
    ],
    "weather": ["the {day} was {weather} , | so {A} took {A.his} {weather.thing} ."],
    "fall": ["{then} {A} dropped the {fall} | and {fall.they} {fall.effect} ."],
    "tool": ["{A} could not find the {tool} , | so {A.he} could not {tool.use} ."],
    "lost": [
        "{A} lost the {thing} . {B} helped {A.him} . soon {AB.he} found {thing.them} under the {bed} .",
        "{A} lost the {thing} . {A.he} searched alone . soon {A.he} found {thing.them} under the {bed} .",
    ],
    "event": ["after the {event} , {A} was {event.state} , | so {A.he} {event.act} ."],
    "need": ["{then} {A} met {B} . {B.he} was {need} , | so {A.he} gave {B.him} some {need.gift} ."],
    "count": ["{A} had {count.n} {goods} . {then} {A.he} {count.verb} one . now {A.he} has {count.m} ."],
    "sum": ["{A} had {sum.n} {goods} | and {B} had {sum.m} . together they had {sum.s} ."],
    "mirror": [
        "{A} {watched} {A.himself} in the {mirror} | and {smiled} .",
        "{A} and {B} {watched} {AB.himself} in the {mirror} | and {smiled} .",
    ],
    "meal": [
        "while {B} {slept} , | {A} made {A.himself} a/an {taste} {meal} .",
        "while {A} {slept} , | {B} made {B.himself} a/an {taste} {meal} .",
    ],
    "sounds": ["every {day} the {animal1} {animal1.sound} | and the {animal2} {animal2.sound} ."],
    "choice": ["the {thing1} near the {thing2} {thing1.was} {look} , | but {A} {liked} {thing1.them} ."],
    "key": ["{A} {took} the {colour} {key} . {key.they} opened the {colour} {door} ."],
}

# What a model of two layers learns in a minute: who is who, who does it, and what belongs to what. Counting, the order
# of events, ways from place to place and long lists of causes take longer.
SMALL_WORLD = ("gift", "trip", "lost", "event", "need", "mirror", "meal", "choice", "key")

CLOSINGS = [
    "// it was a {fine} {day} .",
    "// in the evening {A} {went} home .",
    "// {A} and {B} {smiled} together .",
]
