/** The code of a page, or of a part of one, did not come. */
export class NoCode extends Error {}
/** For nothing answers. */
export class NotReached extends NoCode {}
/** Though something answers: a newer release has put other code in its place. */
export class Replaced extends NoCode {}
