import { generic } from './generic.ts';
import type { Adapter } from './notice.ts';

/** Every dialect, by the slug of its webhook address. */
export const adapters = { smtp: generic } satisfies Record<string, Adapter>;
export type Slug = keyof typeof adapters;

export const isSlug = (slug: string): slug is Slug => Object.hasOwn(adapters, slug);
