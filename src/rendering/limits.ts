// What a template and what comes of it may be at most. The libraries that make mails of it are not loaded for this.
export const TEMPLATE_CHARS_MAX = 256 * 1024;
export const RENDERED_CHARS_MAX = 512 * 1024;
export const SUBJECT_CHARS_MAX = 998;
export const PREHEADER_CHARS_MAX = 250;
/** How deep anything is that a template may mention: `profile.address.city` has two levels. */
export const LEVELS_MAX = 10;
