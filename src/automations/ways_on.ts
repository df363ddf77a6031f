import type { Step } from './step_schema.ts';

/** The steps that a step names, each with where it does. */
export const namedBy = (step: Step): { path: (string | number)[]; next: string | null }[] => {
  switch (step.kind) {
    case 'exit':
      return [];
    case 'branch':
      return [
        ...step.branches.map(({ next }, at) => ({ path: ['branches', at, 'next'], next })),
        { path: ['otherwise'], next: step.otherwise },
      ];
    case 'split':
      return step.ways.map(({ next }, at) => ({ path: ['ways', at, 'next'], next }));
    case 'wait_for_event':
      return [
        { path: ['next'], next: step.next },
        { path: ['on_timeout'], next: step.on_timeout },
      ];
    case 'webhook':
      return [
        { path: ['next'], next: step.next },
        ...(step.on_failure === undefined ? [] : [{ path: ['on_failure'], next: step.on_failure }]),
      ];
    case 'delay_until':
      return [
        { path: ['next'], next: step.next },
        { path: ['otherwise'], next: step.otherwise },
      ];
    default:
      return [{ path: ['next'], next: step.next }];
  }
};
