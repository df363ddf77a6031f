import { Paper, Stack, Text, Title } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { alertSettings, allAlerts } from '../alert_queries.ts';
import type { AlertSettings } from '../alert_queries.ts';
import { api } from '../api.ts';
import { useChange } from '../changes.ts';
import { AlertCard } from '../parts/alert_card.tsx';
import { Empty } from '../parts/empty.tsx';
import { Failed } from '../parts/failed.tsx';
import { NumberSettings } from '../parts/number_settings.tsx';
import type { NumberField } from '../parts/number_settings.tsx';
import { PageTitle } from '../parts/page_title.tsx';
import { Loading, Paged } from '../parts/paged.tsx';

const route = getRouteApi('/signed-in/p/$projectId/alerts');

const FIELDS: readonly NumberField<AlertSettings>[] = [
  { name: 'bounce_percent', label: 'Bounces, in percent of emails in 24 hours' },
  { name: 'complaint_percent', label: 'Complaints, in percent of emails in 24 hours' },
];

const WORDS = {
  wrong: 'A number from 0.01 to 100',
  submit: 'Save thresholds',
  done: 'Saved.',
  ask: 'Ask an owner of the project to change these thresholds.',
};

/** Returns the number that was typed, also with a decimal comma; undefined where it is none. */
const toPercent = (typed: string): number | undefined => {
  const text = typed.replace(',', '.');
  return /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : undefined;
};

const Thresholds = ({ projectId, settings }: { projectId: string; settings: AlertSettings }) => {
  const change = useChange(projectId, ['alerts', 'audit'], (given: AlertSettings) =>
    api.alerts.changeSettings.mutate({ projectId, ...given }),
  );
  return (
    <NumberSettings
      projectId={projectId}
      fields={FIELDS}
      settings={settings}
      change={change}
      read={toPercent}
      inputMode="decimal"
      words={WORDS}
      gap="sm"
    />
  );
};

const Settings = ({ projectId }: { projectId: string }) => {
  const { data, isPending, error } = useQuery(alertSettings(projectId));
  return (
    <Paper withBorder p="md" component="section" aria-label="Thresholds">
      <Stack gap="sm">
        <Title order={2} size="h4">
          Thresholds
        </Title>
        <Text size="sm" c="dimmed">
          Trunkline alerts you when more emails of a provider bounce for good, or are reported as
          spam.
        </Text>
        {isPending && <Loading />}
        {!isPending && !data && <Failed error={error} />}
        {data && <Thresholds projectId={projectId} settings={data} />}
      </Stack>
    </Paper>
  );
};

export const AlertsPage = () => {
  const { projectId } = route.useParams();
  const list = useInfiniteQuery(allAlerts(projectId));
  const none = (
    <Empty title="No alerts">
      Trunkline alerts you here when email stops or its reputation is at risk. To send alerts to
      your own tools, add a webhook endpoint that subscribes to them.
    </Empty>
  );
  return (
    <Stack maw={900}>
      <PageTitle title="Alerts" note="Conditions that need you, and those of the last 90 days." />
      <Paged list={list} empty={none}>
        {(items) => (
          <Stack component="ul" gap="sm" m={0} p={0}>
            {items.map((alert) => (
              <AlertCard key={alert.id} projectId={projectId} alert={alert} />
            ))}
          </Stack>
        )}
      </Paged>
      <Settings projectId={projectId} />
    </Stack>
  );
};
