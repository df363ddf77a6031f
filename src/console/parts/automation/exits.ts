import type { Definition as Kept } from '../../../automations/automations.ts';

export type Definition = Kept;
export type Step = Definition['steps'][string];
export type Kind = Step['kind'];
export type StepOf<K extends Kind> = Extract<Step, { kind: K }>;
export type Trigger = Definition['trigger'];
export type Settings = Definition['settings'];
export type Filter = StepOf<'wait_for_event'>['where'][number];
export type Condition = StepOf<'branch'>['branches'][number]['when'];

/** One way on from a step. `to` is the step with this way led elsewhere. */
export type Exit = { label: string; next: string | null; to: (next: string | null) => Step };

/** Where something can be put: at the beginning, or behind a way on from a step. */
export type Place = { after: null } | { after: string; exit: number };

const onlyNext = <S extends Step & { next: string | null }>(step: S, label = ''): Exit => ({
  label,
  next: step.next,
  to: (next) => ({ ...step, next }),
});

const replaced = <T>(items: readonly T[], at: number, item: T): T[] =>
  items.map((one, index) => (index === at ? item : one));

/** The ways on from a step, the main one first. */
export const exitsOf = (step: Step): Exit[] => {
  switch (step.kind) {
    case 'exit':
      return [];
    case 'branch':
      return [
        ...step.branches.map((branch, at): Exit => ({
          label: step.branches.length === 1 ? 'Yes' : `Way ${at + 1}`,
          next: branch.next,
          to: (next) => ({ ...step, branches: replaced(step.branches, at, { ...branch, next }) }),
        })),
        {
          label: 'Otherwise',
          next: step.otherwise,
          to: (otherwise) => ({ ...step, otherwise }),
        },
      ];
    case 'split':
      return step.ways.map((way, at): Exit => ({
        label: way.is_holdout ? `${way.name} (left alone)` : way.name,
        next: way.next,
        to: (next) => ({ ...step, ways: replaced(step.ways, at, { ...way, next }) }),
      }));
    case 'wait_for_event':
      return [
        onlyNext(step, 'It came'),
        {
          label: 'It did not',
          next: step.on_timeout,
          to: (on_timeout) => ({ ...step, on_timeout }),
        },
      ];
    case 'delay_until':
      return 'trait' in step.until
        ? [
            onlyNext(step, 'On the date'),
            {
              label: 'No date ahead',
              next: step.otherwise,
              to: (otherwise) => ({ ...step, otherwise }),
            },
          ]
        : [onlyNext(step)];
    case 'webhook':
      return step.on_failure === undefined
        ? [onlyNext(step)]
        : [
            onlyNext(step, 'Told'),
            {
              label: 'Not told',
              next: step.on_failure,
              to: (on_failure) => ({ ...step, on_failure }),
            },
          ];
    default:
      return [onlyNext(step)];
  }
};

/** A step as it is put in: everybody goes on by it to where they went before. */
export const newStep = (kind: Kind, next: string | null, providerId = ''): Step => {
  switch (kind) {
    case 'send_email':
      return { kind, provider_id: providerId, template_id: '', template_version: 1, next };
    case 'delay':
      return { kind, duration: 'P1D', next };
    case 'delay_until':
      return { kind, until: { time: '09:00' }, otherwise: next, next };
    case 'wait_for_event':
      return { kind, event: '', where: [], timeout: 'P3D', next, on_timeout: next };
    case 'branch':
      return {
        kind,
        branches: [{ when: { kind: 'trait', trait: '', test: { is: 'equals', value: '' } }, next }],
        otherwise: next,
      };
    case 'split':
      return {
        kind,
        ways: [
          { name: 'a', weight: 50, next, is_holdout: false },
          { name: 'b', weight: 50, next, is_holdout: false },
        ],
      };
    case 'update_profile':
      return { kind, traits: {}, traits_from_event: {}, next };
    case 'webhook':
      return { kind, endpoint_id: '', next };
    case 'exit':
      return { kind };
  }
};
