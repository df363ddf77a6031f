// How many calls of webhook endpoints a web page can cause, at the bound and one past it.
import { expect } from 'vitest';
import { chargeCall } from '../../src/automations/call_budget.ts';
import { newId } from '../../src/base/ids.ts';
import { inProject } from '../../src/base/db.ts';
import type { TestDatabase } from '../support/database.ts';

export const limitsOfCalls = (database: TestDatabase) => ({
  'Webhook calls of browser-triggered runs to one endpoint': async (value: number) => {
    const endpointId = newId();
    const charge = () =>
      inProject(database.deps, newId(), (scope) =>
        chargeCall(scope, endpointId, { is_of_page: true }),
      );
    expect(await charge()).toBeNull();
    await database.owner.query(
      'update base.rate_limit_counters set used = $2 where counter_key = $1',
      [endpointId, value - 1],
    );
    expect(await charge()).toBeNull();
    expect(await charge()).toBeGreaterThan(0);
  },
});
