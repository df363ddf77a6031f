import type { inferRouterInputs } from '@trpc/server';
import type { AppRouter } from '../../admin/router.ts';

export type Span = NonNullable<inferRouterInputs<AppRouter>['overview']['read']['span']>;

/** How far back one may look, in words; and how a bar is to be read. */
export const spans: Record<Span, { label: string; note: string }> = {
  day: { label: '1 day', note: 'The last 24 hours; one bar for each.' },
  week: { label: '7 days', note: 'The last 7 days; a bar is 6 hours.' },
  month: { label: '30 days', note: 'The last 30 days; a bar is a day of UTC.' },
};

export const SPANS = Object.keys(spans) as Span[];
