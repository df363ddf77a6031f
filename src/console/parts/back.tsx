import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';

type Props = {
  to:
    | '/p/$projectId/suppressions'
    | '/p/$projectId/automations'
    | '/p/$projectId/templates'
    | '/p/$projectId/segments'
    | '/p/$projectId/links'
    | '/p/$projectId/profiles'
    | '/p/$projectId/sends'
    | '/p/$projectId/settings/providers';
  projectId: string;
  label: string;
};

/** The way back to the list that a page is part of. */
export const Back = ({ to, projectId, label }: Props) => (
  <Anchor size="sm" renderRoot={(props) => <Link {...props} to={to} params={{ projectId }} />}>
    ← {label}
  </Anchor>
);
