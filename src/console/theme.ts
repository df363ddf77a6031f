import { Badge, createTheme } from '@mantine/core';

/** The system's own typeface: nothing to load, nothing to jump. */
const SYSTEM_FONTS = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif';

export const theme = createTheme({
  fontFamily: SYSTEM_FONTS,
  headings: { fontFamily: SYSTEM_FONTS, fontWeight: '650' },
  primaryColor: 'cyan',
  primaryShade: 9,
  defaultRadius: 'md',
  cursorType: 'pointer',
  // Words as they are written everywhere else.
  components: { Badge: Badge.extend({ defaultProps: { tt: 'none' } }) },
});
