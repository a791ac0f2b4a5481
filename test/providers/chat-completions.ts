// The chat completions protocol, as far as its many servers differ: the field of the reasoning, ids of calls, signatures, and which conversations
// the template of the model accepts.
import { isFiller, turnAfter } from './scenario.ts'
import { type Provider, Refused } from './server.ts'

interface Message {
  role: string
  content?: unknown
  tool_calls?: Array<{ id: string; extra_content?: unknown }>
  [field: string]: unknown
}

interface Kind {
  /** The field of the reasoning, which is required back with calls if `wantsReasoning`. */
  reasoningField?: string
  wantsReasoning?: boolean
  /** User and assistant take turns, and no user message follows results. */
  alternates?: boolean
  /** No references in tools. */
  refusesReferences?: boolean
  /** A signature of each call, which is required back. */
  signs?: boolean
  /** Of each call; default: a number of its own. */
  callId?: string
  /** Usage comes with the finish reason, not in a chunk of its own. */
  usageWithFinish?: boolean
  /** Content as one text, not as a list of parts. */
  wantsText?: boolean
}

export function chatCompletions(kind: Kind): Provider {
  return {
    answersIn({ messages, tools = [] }: { messages: Message[]; tools?: unknown[] }) {
      if (kind.refusesReferences && JSON.stringify(tools).includes('"$ref"')) {
        throw new Refused('tools.function.parameters is not a valid moonshot flavored json schema: $ref')
      }
      for (const [at, message] of messages.entries()) refuseMessage(kind, message, messages[at - 1])
      const answers = messages.filter(({ role, content }) => role === 'assistant' && !isFiller(content))
      for (const [at, answer] of answers.entries()) refuseAnswer(kind, answer, at)
      return answers.length
    },
    answer(answers) {
      const { reasoning, text, calls } = turnAfter(answers)
      const chunk = (delta: object, finish: string | null = null) => ({
        data: {
          id: 'c',
          object: 'chat.completion.chunk',
          created: 1,
          model: 'm',
          choices: [{ index: 0, delta, finish_reason: finish }],
        },
      })
      return [
        ...(kind.reasoningField === undefined ? [] : [chunk({ role: 'assistant', [kind.reasoningField]: reasoning })]),
        ...(text === undefined ? [] : [chunk({ role: 'assistant', content: text })]),
        ...calls.map(({ id, name, args }, index) =>
          chunk({
            role: 'assistant',
            tool_calls: [
              {
                index,
                id: kind.callId ?? id,
                type: 'function',
                function: { name, arguments: JSON.stringify(args) },
                ...(kind.signs ? { extra_content: { google: { thought_signature: `SIG-${answers}-${index}` } } } : {}),
              },
            ],
          }),
        ),
        ...endOf(kind, chunk({}, calls.length > 0 ? 'tool_calls' : 'stop')),
        { data: '[DONE]' },
      ]
    },
  }
}

const usage = { prompt_tokens: 9_000, completion_tokens: 5, total_tokens: 9_005 }

function endOf({ usageWithFinish = false }: Kind, { data }: { data: object }): Array<{ data: object }> {
  if (usageWithFinish) return [{ data: { ...data, usage } }]
  return [{ data }, { data: { ...data, choices: [], usage } }]
}

function refuseMessage(kind: Kind, { role, content }: Message, before: Message | undefined): void {
  if (kind.alternates && role === 'user' && (before?.role === 'user' || before?.role === 'tool')) {
    throw new Refused(
      before.role === 'tool'
        ? "Unexpected role 'user' after role 'tool'"
        : 'After the optional system message, conversation roles must alternate user/assistant/user/assistant/...',
    )
  }
  if (kind.wantsText && role === 'user' && typeof content !== 'string') throw new Refused('content must be a string')
}

function refuseAnswer(kind: Kind, answer: Message, at: number): void {
  const { calls } = turnAfter(at)
  if (calls.length === 0) return
  if (kind.wantsReasoning && answer[kind.reasoningField as string] !== turnAfter(at).reasoning) {
    throw new Refused('The `reasoning_content` in the thinking mode must be passed back to the API.')
  }
  if (!kind.signs) return
  for (const [index, call] of (answer.tool_calls ?? []).entries()) {
    const { google } = (call.extra_content ?? {}) as { google?: { thought_signature?: string } }
    if (google?.thought_signature !== `SIG-${at}-${index}`)
      throw new Refused('Function call is missing a thought_signature in functionCall parts.')
  }
}
