import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Alert } from '../alert_queries.ts';
import { ProviderLink } from './object_links.tsx';

type Props = { projectId: string; alert: Alert };

/** Leads to where an alert's subject is looked at and changed. */
export const AlertLink = ({ projectId, alert: { subject } }: Props) =>
  subject.type === 'webhook' ? (
    <Anchor
      size="sm"
      renderRoot={(props) => (
        <Link {...props} to="/p/$projectId/settings/webhooks" params={{ projectId }} />
      )}
    >
      Open Webhooks
    </Anchor>
  ) : (
    <ProviderLink projectId={projectId} providerId={subject.id}>
      Open {subject.name}
    </ProviderLink>
  );
