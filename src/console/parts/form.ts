/** What was typed into a field of a form. */
export const fieldOf = (form: HTMLFormElement, name: string): string => {
  const value = new FormData(form).get(name);
  return typeof value === 'string' ? value : '';
};

const WHOLE = /^\d{1,12}$/;
export const NOT_WHOLE = 'Enter a whole number.';

/** Returns the whole number in a field of a form, or null: an empty field is not 0. */
export const wholeOf = (form: HTMLFormElement, name: string): number | null => {
  const typed = fieldOf(form, name).trim();
  return WHOLE.test(typed) ? Number(typed) : null;
};
