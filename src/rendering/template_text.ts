import type { Sample } from './variables.ts';

/** A template as its author gives it: its body in HTML or in MJML. */
export type TemplateText = {
  name: string;
  subject: string;
  text: string | null;
  preheader?: string | null;
  /** With one, a variable that it lacks is refused now, instead of failing the person's mail later. */
  sample?: Sample | null;
} & ({ html: string } | { mjml: string });
