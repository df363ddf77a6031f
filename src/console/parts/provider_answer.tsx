import { Text } from '@mantine/core';

type Answer = {
  code: number | null;
  enhanced_code: string | null;
  text: string | null;
  queue_id?: string | null;
};

/** What a provider answered, in its own words; nothing where it is not known. */
export const ProviderAnswer = ({ answer }: { answer: Answer | null }) => {
  if (answer === null) return null;
  const { code, enhanced_code, text, queue_id = null } = answer;
  const said = [code, enhanced_code, text].filter((part) => part !== null && part !== '');
  if (said.length === 0 && queue_id === null) return null;
  return (
    <Text size="sm" c="dimmed" className="breaks">
      The provider answered: {said.join(' ')}
      {queue_id !== null && ` (queue id ${queue_id})`}
    </Text>
  );
};
