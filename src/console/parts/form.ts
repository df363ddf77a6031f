/** What was typed into a field of a form. */
export const fieldOf = (form: HTMLFormElement, name: string): string => {
  const value = new FormData(form).get(name);
  return typeof value === 'string' ? value : '';
};

const WHOLE = /^\d{1,12}$/;
export const NOT_WHOLE = 'Enter a whole number.';

/** Returns the whole number that a text is, or null: an empty text is not 0. */
export const toWhole = (typed: string): number | null => (WHOLE.test(typed) ? Number(typed) : null);

/** Returns the whole number in a field of a form, or null. */
export const wholeOf = (form: HTMLFormElement, name: string): number | null =>
  toWhole(fieldOf(form, name).trim());
