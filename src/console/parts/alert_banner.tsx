import { Alert as Box, Anchor, Group, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link, useLocation } from '@tanstack/react-router';
import { useState } from 'react';
import { openAlerts } from '../alert_queries.ts';
import type { Alert } from '../alert_queries.ts';
import { seenAlerts } from '../seen_alerts.ts';
import { AlertLink } from './alert_link.tsx';
import { ForRole } from './for_role.tsx';

/** How many alerts the banner names, the newest. It leads to the others. */
const NAMED_MAX = 3;

/** Alerts whose whole text is on the page of their provider, too. */
const ON_ITS_PAGE = ['provider_held', 'provider_parked'];

type OneProps = { projectId: string; alert: Alert };

/** Who may act on an alert: topics are for owners. */
const roleFor = ({ subject }: Alert) => (subject.type === 'webhook' ? 'owner' : 'editor');

const One = ({ projectId, alert, isSaidBelow }: OneProps & { isSaidBelow: boolean }) => (
  <Stack gap={4}>
    {isSaidBelow ? (
      <Text size="sm">See below what is wrong, and what to do.</Text>
    ) : (
      <>
        <Text size="sm" className="breaks" visibleFrom="sm">
          {alert.summary}
        </Text>
        <Text size="sm" className="breaks" hiddenFrom="sm">
          {alert.subject.name}
        </Text>
        <ForRole projectId={projectId} role={roleFor(alert)} to="to act on this">
          <Text size="sm" className="breaks" visibleFrom="sm">
            {alert.fix}
          </Text>
        </ForRole>
        <AlertLink projectId={projectId} alert={alert} />
      </>
    )}
  </Stack>
);

const Several = ({ projectId, alerts }: { projectId: string; alerts: readonly Alert[] }) => (
  <Stack gap="xs" component="ul" m={0} pl="md">
    {alerts.slice(0, NAMED_MAX).map((alert) => (
      <li key={alert.id}>
        <Group gap={8} wrap="wrap">
          <Text size="sm" className="breaks">
            {alert.title}: {alert.subject.name}
          </Text>
          <AlertLink projectId={projectId} alert={alert} />
        </Group>
      </li>
    ))}
  </Stack>
);

/** On every page, the alerts that are open: until they are resolved, or dismissed and no new one opens. */
export const AlertBanner = ({ projectId }: { projectId: string }) => {
  const { data } = useQuery(openAlerts(projectId));
  const { pathname } = useLocation();
  const [seen, setSeen] = useState(() => seenAlerts.read(projectId));
  const alerts = data?.items ?? [];
  const [first] = alerts;
  const isListed = pathname.endsWith('/alerts');
  if (!first || isListed || alerts.every(({ id }) => seen.includes(id))) return null;
  const dismiss = (): void => {
    const ids = alerts.map(({ id }) => id);
    seenAlerts.keep(projectId, ids);
    setSeen(ids);
  };
  const count = data?.next_cursor ? `More than ${alerts.length}` : String(alerts.length);
  return (
    <Box
      color="red"
      variant="light"
      role="status"
      icon={<IconAlertTriangle />}
      title={alerts.length === 1 ? first.title : `${count} alerts`}
      mb="md"
      withCloseButton
      closeButtonLabel="Dismiss alerts"
      onClose={dismiss}
    >
      <Stack gap="xs" align="flex-start">
        {alerts.length === 1 ? (
          <One
            projectId={projectId}
            alert={first}
            isSaidBelow={ON_ITS_PAGE.includes(first.kind) && pathname.endsWith(first.subject.id)}
          />
        ) : (
          <Several projectId={projectId} alerts={alerts} />
        )}
        <Anchor
          size="sm"
          renderRoot={(props) => (
            <Link {...props} to="/p/$projectId/alerts" params={{ projectId }} />
          )}
        >
          All alerts
        </Anchor>
      </Stack>
    </Box>
  );
};
