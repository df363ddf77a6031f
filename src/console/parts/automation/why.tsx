import { useQuery } from '@tanstack/react-query';
import { explanation } from '../../automation_queries.ts';
import { Failed } from '../failed.tsx';
import { Loading } from '../paged.tsx';
import { Decisions } from './decisions.tsx';

/** Every decision about somebody: of one run, or of the last time that they came. */
export const Why = ({
  projectId,
  automationId,
  profileId,
  runId,
}: {
  projectId: string;
  automationId: string;
  profileId: string;
  runId?: string;
}) => {
  const { data, isPending, error } = useQuery(
    explanation(projectId, automationId, { profileId, runId }),
  );
  if (isPending) return <Loading />;
  if (!data) return <Failed error={error} />;
  return <Decisions explanation={data} />;
};
