/** The id that the examples of the documents give to an object. */
export const SHOWN_ID = '019a9f0c-6c00-7cc3-98c4-dc0c0c07398f';
