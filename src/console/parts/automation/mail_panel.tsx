import { Alert, Button, Group, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { templateChoices } from '../../automation_queries.ts';
import { Aside, ProviderChoice, TemplateChoice } from './choice.tsx';
import { useEditor, useErrors } from './editor_context.ts';
import type { StepOf } from './exits.ts';

type Props = { id: string; step: StepOf<'send_email'> };

const Newer = ({ id, step, latest }: Props & { latest: number }) => {
  const { setStep } = useEditor();
  return (
    <Alert color="blue" p="xs">
      <Group justify="space-between" gap="xs">
        It sends version {step.template_version}; version {latest} is there.
        <Button
          size="compact-xs"
          variant="light"
          onClick={() => setStep(id, { ...step, template_version: latest })}
        >
          Send version {latest}
        </Button>
      </Group>
    </Alert>
  );
};

export const MailPanel = ({ id, step }: Props) => {
  const { projectId, setStep } = useEditor();
  const errorOf = useErrors(`/steps/${id}`);
  const { data } = useQuery(templateChoices(projectId));
  const versionOf = (templateId: string) =>
    data?.items.find((one) => one.id === templateId)?.version ?? 1;
  const latest = versionOf(step.template_id);
  return (
    <Stack gap="sm">
      <TemplateChoice
        projectId={projectId}
        label="Template"
        value={step.template_id}
        onChange={(template_id) =>
          setStep(id, { ...step, template_id, template_version: versionOf(template_id) })
        }
        error={errorOf('template_id')}
      />
      <Group gap="md">
        {step.template_id !== '' && (
          <Aside href={`/console/p/${projectId}/templates/${step.template_id}`}>
            Open this template
          </Aside>
        )}
        <Aside href={`/console/p/${projectId}/templates/new`}>Make a new template</Aside>
      </Group>
      {step.template_version < latest && <Newer id={id} step={step} latest={latest} />}
      <ProviderChoice
        projectId={projectId}
        label="Sender"
        value={step.provider_id}
        onChange={(provider_id) => setStep(id, { ...step, provider_id })}
        error={errorOf('provider_id')}
      />
    </Stack>
  );
};
