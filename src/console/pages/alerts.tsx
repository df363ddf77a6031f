import { Button, Group, Paper, Stack, Text, TextInput, Title } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import type { SubmitEvent } from 'react';
import { alertSettings, allAlerts } from '../alert_queries.ts';
import type { AlertSettings } from '../alert_queries.ts';
import { api, issuesOf } from '../api.ts';
import { useChange } from '../changes.ts';
import { AlertCard } from '../parts/alert_card.tsx';
import { Empty } from '../parts/empty.tsx';
import { Failed } from '../parts/failed.tsx';
import { fieldOf } from '../parts/form.ts';
import { PageTitle } from '../parts/page_title.tsx';
import { Loading, Paged } from '../parts/paged.tsx';
import { Refused } from '../parts/refused.tsx';
import { isAtLeast, useRole } from '../people_queries.ts';

const route = getRouteApi('/signed-in/p/$projectId/alerts');

const FIELDS = [
  { name: 'bounce_percent', label: 'Bounces, in percent of emails in 24 hours' },
  { name: 'complaint_percent', label: 'Complaints, in percent of emails in 24 hours' },
] as const;
const NAMES = FIELDS.map(({ name }) => name);

const NO_PERCENT = 'A number from 0.01 to 100';

/** A field as a number; null where it is none. */
const percentOf = (form: HTMLFormElement, name: string): number | null => {
  const typed = fieldOf(form, name).trim().replace(',', '.');
  return /^\d+(?:\.\d+)?$/.test(typed) ? Number(typed) : null;
};

const Thresholds = ({ projectId, settings }: { projectId: string; settings: AlertSettings }) => {
  const isOwner = isAtLeast(useRole(projectId), 'owner');
  const [wrong, setWrong] = useState<string[]>([]);
  const change = useChange(projectId, ['alerts', 'audit'], (given: AlertSettings) =>
    api.alerts.changeSettings.mutate({ projectId, ...given }),
  );
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = event.currentTarget;
    const bounce = percentOf(form, 'bounce_percent');
    const complaint = percentOf(form, 'complaint_percent');
    setWrong(NAMES.filter((name) => percentOf(form, name) === null));
    if (bounce === null || complaint === null) return;
    change.mutate({ bounce_percent: bounce, complaint_percent: complaint });
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        {FIELDS.map(({ name, label }) => (
          <TextInput
            key={`${name}/${settings[name]}`}
            name={name}
            label={label}
            defaultValue={settings[name]}
            inputMode="decimal"
            readOnly={!isOwner}
            error={wrong.includes(name) ? NO_PERCENT : issuesOf(change.error)[name]}
          />
        ))}
        <Refused error={change.error} fields={NAMES} />
        {isOwner ? (
          <Group>
            <Button type="submit" loading={change.isPending}>
              Save thresholds
            </Button>
            {change.isSuccess && wrong.length === 0 && (
              <Text size="sm" role="status">
                Saved.
              </Text>
            )}
          </Group>
        ) : (
          <Text size="sm" c="dimmed">
            Ask an owner of the project to change these thresholds.
          </Text>
        )}
      </Stack>
    </form>
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
