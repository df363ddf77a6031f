import { Alert, Badge, createTheme, darken } from '@mantine/core';
import type { CSSVariablesResolver } from '@mantine/core';

/** The system's own typeface: nothing to load, nothing to jump. */
const SYSTEM_FONTS = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif';

export const theme = createTheme({
  fontFamily: SYSTEM_FONTS,
  headings: { fontFamily: SYSTEM_FONTS, fontWeight: '650' },
  primaryColor: 'cyan',
  primaryShade: 9,
  defaultRadius: 'md',
  cursorType: 'pointer',
  components: {
    // Words as they are written everywhere else.
    Badge: Badge.extend({ defaultProps: { tt: 'none' } }),
    // The ring around what has the focus is not cut off.
    Alert: Alert.extend({ styles: { message: { overflow: 'visible' } } }),
  },
});

/** How much darker a button is that somebody points at. */
const POINTED_AT = 0.15;

/** Whoever points at a button can read it: the lighter shade that the library takes has too little contrast. */
export const resolveVariables: CSSVariablesResolver = ({ colors, primaryColor }) => {
  const pointedAt = darken(colors[primaryColor]?.[9] ?? '', POINTED_AT);
  const variables = {
    '--mantine-primary-color-filled-hover': pointedAt,
    [`--mantine-color-${primaryColor}-filled-hover`]: pointedAt,
  };
  // By scheme, as the library's own are, which would win over what holds for both.
  return { variables: {}, light: variables, dark: variables };
};
