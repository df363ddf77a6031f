import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { isAtLeast, useRole } from '../people_queries.ts';
import type { Role } from '../people_queries.ts';

type Props = {
  projectId: string;
  role: Exclude<Role, 'viewer'>;
  /** What one would do here, as in "to add an address". Without it, nothing is said. */
  to?: string;
  children: ReactNode;
};

/** What a role may do, or in its place whom to ask. The server decides; this only spares the way there. */
export const ForRole = ({ projectId, role, to, children }: Props) => {
  const mine = useRole(projectId);
  if (isAtLeast(mine, role)) return children;
  if (mine === undefined || to === undefined) return null;
  return (
    <Text size="sm" c="dimmed">
      Your role here is {mine}: ask an {role} {to}.
    </Text>
  );
};

/** Says on a page where something new is made that it will not be kept, to whom that is so. */
export const MayKeep = ({ projectId }: { projectId: string }) => (
  <ForRole projectId={projectId} role="editor" to="to keep what you make here">
    {null}
  </ForRole>
);
