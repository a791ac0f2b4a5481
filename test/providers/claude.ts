// Claude with extended thinking: the last turn with calls must begin with its thinking block and the signature of it.
import { isFiller, turnAfter } from './scenario.ts'
import { type Provider, Refused } from './server.ts'

interface Block {
  type: string
  text?: string
  thinking?: string
  signature?: string
}

export const claude: Provider = {
  answersIn({ messages }: { messages: Array<{ role: string; content: Block[] }> }) {
    for (const [at, { role }] of messages.entries()) {
      if (role === messages[at - 1]?.role)
        throw new Refused('messages: roles must alternate between "user" and "assistant"')
    }
    const answers = messages.filter(({ role, content }) => role === 'assistant' && !isFiller(content[0]?.text))
    for (const [at, { content }] of answers.entries()) {
      if (!content.some(({ type }) => type === 'tool_use')) continue
      const [first] = content
      if (first?.type !== 'thinking' || first.signature !== `SIG-${at}` || first.thinking !== turnAfter(at).reasoning) {
        throw new Refused(
          `messages.${at}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first?.type}\``,
        )
      }
    }
    return answers.length
  },
  answer(answers) {
    const { reasoning, text, calls } = turnAfter(answers)
    const events: Array<Record<string, unknown> & { type: string }> = [
      {
        type: 'message_start',
        message: {
          id: 'm',
          type: 'message',
          role: 'assistant',
          model: 'c',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: 9_000, output_tokens: 1 },
        },
      },
    ]
    let index = 0
    const block = (content_block: object, ...deltas: object[]) => {
      events.push({ type: 'content_block_start', index, content_block })
      for (const delta of deltas) events.push({ type: 'content_block_delta', index, delta })
      events.push({ type: 'content_block_stop', index })
      index++
    }
    block(
      { type: 'thinking', thinking: '', signature: '' },
      { type: 'thinking_delta', thinking: reasoning },
      { type: 'signature_delta', signature: `SIG-${answers}` },
    )
    if (text !== undefined) block({ type: 'text', text: '' }, { type: 'text_delta', text })
    for (const { id, name, args } of calls) {
      block({ type: 'tool_use', id, name, input: {} }, { type: 'input_json_delta', partial_json: JSON.stringify(args) })
    }
    events.push({
      type: 'message_delta',
      delta: { stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn', stop_sequence: null },
      usage: { output_tokens: 5 },
    })
    events.push({ type: 'message_stop' })
    return events.map((data) => ({ event: data.type, data }))
  },
}
