import type { Figures } from './relay_world.ts';

const rounded = (value: number): string => value.toFixed(1);

/** Prints the figures of a scenario as one line. */
export const report = (scenario: string, figures: Figures, more: string[] = []): void => {
  const { planned, taken, twice, lost, rejected, unknown, deferred, heldSeconds } = figures;
  const reasons = Object.entries(deferred).map(([reason, count]) => `${reason} ${count}`);
  const parts = [
    `planned ${planned}`,
    `taken ${taken}`,
    `twice ${twice}`,
    `lost ${lost}`,
    `rejected ${rejected}`,
    `unknown ${unknown}`,
    `held ${rounded(heldSeconds)} s`,
    ...(reasons.length > 0 ? [`deferred by ${reasons.join(' and ')}`] : []),
    ...more,
  ];
  console.log(`${scenario}: ${parts.join(', ')}`);
};

/** A throughput for people. */
export const perSecond = (value: number): string => `${rounded(value)}/s`;
