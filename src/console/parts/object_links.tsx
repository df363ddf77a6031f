import { Anchor } from '@mantine/core';
import type { AnchorProps } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

type Props = { projectId: string; children: ReactNode } & Pick<
  AnchorProps,
  'size' | 'fw' | 'className'
>;

/** A link to an automation; with `person`, to why that person did or did not get it. */
export const AutomationLink = ({
  projectId,
  automationId,
  person,
  ...look
}: Props & { automationId: string; person?: string | null }) => (
  <Anchor
    size="sm"
    {...look}
    renderRoot={(props) => (
      <Link
        {...props}
        to="/p/$projectId/automations/$automationId"
        params={{ projectId, automationId }}
        {...(person === undefined ? {} : { search: { person } })}
      />
    )}
  />
);

/** A link to an email provider. */
export const ProviderLink = ({
  projectId,
  providerId,
  ...look
}: Props & { providerId: string }) => (
  <Anchor
    size="sm"
    {...look}
    renderRoot={(props) => (
      <Link
        {...props}
        to="/p/$projectId/settings/providers/$providerId"
        params={{ projectId, providerId }}
      />
    )}
  />
);
