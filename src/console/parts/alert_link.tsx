import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Alert } from '../alert_queries.ts';
import { ProviderLink } from './object_links.tsx';

type Props = { projectId: string; alert: Alert };

const PAGES = {
  webhook: { to: '/p/$projectId/settings/webhooks', label: 'Open Webhooks' },
  endpoint: { to: '/p/$projectId/settings/endpoints', label: 'Open Webhook endpoints' },
} as const;

/** Leads to where an alert's subject is looked at and changed. */
export const AlertLink = ({ projectId, alert: { subject } }: Props) => {
  if (subject.type === 'provider')
    return (
      <ProviderLink projectId={projectId} providerId={subject.id}>
        Open {subject.name}
      </ProviderLink>
    );
  const { to, label } = PAGES[subject.type];
  return (
    <Anchor size="sm" renderRoot={(props) => <Link {...props} to={to} params={{ projectId }} />}>
      {label}
    </Anchor>
  );
};
