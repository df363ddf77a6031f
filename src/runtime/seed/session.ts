import type { Person } from './people.ts';
import type { Random } from './random.ts';

type Properties = Record<string, string | number | boolean>;

/** What somebody does in one go, still without a time. */
export type Step = {
  name: string;
  properties: Properties;
  /** Which identifiers it comes with, and whether a browser says it or a server. */
  by: 'browser' | 'server' | 'sign_up';
  /** Seconds after the step before. */
  after: number;
};

const PATHS = ['/', '/pricing', '/features', '/blog/first-steps', '/docs', '/products', '/about'];
const PRODUCTS = [
  ['notebook', 'paper', 12.5],
  ['fountain pen', 'pens', 49],
  ['ink', 'pens', 9.9],
  ['sketch pad', 'paper', 17],
  ['desk lamp', 'light', 89],
  ['candle', 'light', 6.5],
] as const;
const FEATURES = ['export', 'search', 'share', 'import', 'report'];
const SECONDS_MAX = 120;

const view = (random: Random): Properties => ({
  path: random.pick(PATHS),
  width: random.pick([390, 412, 1280, 1440, 1920]),
});

const shop = (random: Random): Omit<Step, 'after'> => {
  const [product, category, price] = random.pick(PRODUCTS);
  const items = 1 + random.times(0.3, 5);
  const amount = Math.round(price * items * 100) / 100;
  return random.isTrue(0.7)
    ? { name: 'item_added', properties: { product, category, price }, by: 'browser' }
    : {
        name: 'order_placed',
        properties: { product, category, items, amount, currency: 'EUR' },
        by: 'server',
      };
};

const anyStep = (random: Random, isKnown: boolean): Omit<Step, 'after'> => {
  const chance = random.unit();
  if (chance < 0.5) return { name: 'page_viewed', properties: view(random), by: 'browser' };
  if (chance < 0.7) {
    const text = random.pick(['Try it', 'Read more', 'Add', 'Menu', 'Next']);
    return { name: 'element_clicked', properties: { tag: 'button', text }, by: 'browser' };
  }
  if (chance < 0.78) {
    const seconds = random.below(300);
    return { name: 'page_left', properties: { ...view(random), seconds }, by: 'browser' };
  }
  if (!isKnown) {
    return { name: 'form_submitted', properties: { form: 'newsletter' }, by: 'browser' };
  }
  if (chance < 0.88) {
    return { name: 'feature_used', properties: { feature: random.pick(FEATURES) }, by: 'browser' };
  }
  return shop(random);
};

const signUp = ({ traits }: Person): Omit<Step, 'after'> => ({
  name: 'user_signed_up',
  properties: { email: traits.email, first_name: traits.first_name, plan: traits.plan },
  by: 'sign_up',
});

/** One visit: it begins with a page and holds so many steps; a sign-up is one of them, if it is to happen. */
export const makeSession = (
  random: Random,
  person: Person,
  { steps, isKnown, signsUp }: { steps: number; isKnown: boolean; signsUp: boolean },
): Step[] => {
  const signsUpAt = signsUp ? random.below(steps) : -1;
  const made: Step[] = [];
  for (let at = 0; at < steps; at += 1) {
    const after = at === 0 ? 0 : 1 + random.below(SECONDS_MAX);
    if (at === signsUpAt) made.push({ ...signUp(person), after });
    else if (at === 0) {
      const campaign = person.utmSource === null ? {} : { utm_source: person.utmSource };
      const properties = { ...view(random), ...campaign };
      made.push({ name: 'page_viewed', properties, by: 'browser', after });
    } else made.push({ ...anyStep(random, isKnown || (signsUpAt >= 0 && at > signsUpAt)), after });
  }
  return made;
};
