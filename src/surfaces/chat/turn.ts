// Converts the stream of a task to one UI message per turn: from a message of the user until the task has answered, asks a question or
// rests. Text is streamed as it is generated, and appears exactly once, however it arrives.
import type { StreamItem } from '../../engine/engine-api.ts'
import type { UiMessageChunk } from './chunks.ts'

type Message = Extract<StreamItem, { type: 'message' }>
type Content = Extract<StreamItem, { type: 'content' }>

/** Statuses in which the task waits for an action from outside. */
const resting = new Set(['input_required', 'paused'])

export class Turn {
  readonly #messageId: string
  #begun = false
  /** The model's message that the open step consists of; undefined for a step with only calls. */
  #step: { messageId: string | undefined } | undefined
  #text: { id: string; said: string } | undefined
  /** The message of which a chunk was lost: it is sent when it is complete. */
  #gapIn: string | undefined
  readonly #calls = new Set<string>()
  #status = ''
  #hasQuestion = false
  #over = false

  /** @param messageId id of the UI message: equal when the turn is streamed again from the start. */
  constructor(messageId: string) {
    this.#messageId = messageId
  }

  get over(): boolean {
    return this.#over
  }

  *take(item: StreamItem): Generator<UiMessageChunk> {
    if (!this.#begun) {
      this.#begun = true
      yield { type: 'start', messageId: this.#messageId }
    }
    yield* this.#chunksOf(item)
    if (!this.#over && this.#isResting()) yield* this.#finish({ type: 'finish', finishReason: 'other' })
  }

  *#chunksOf(item: StreamItem): Generator<UiMessageChunk> {
    const { taskId } = item
    switch (item.type) {
      case 'start':
      case 'machine':
      case 'emitted':
        return
      case 'state':
        this.#status = item.status
        yield { type: 'data-errand-state', id: 'state', data: { taskId, status: item.status, reason: item.reason } }
        return
      case 'content':
        yield* this.#piece(item)
        return
      case 'message':
        if (item.role === 'assistant' && !item.announcement) yield* this.#message(item)
        return
      case 'question': {
        this.#hasQuestion = true
        const { questionId, question, schema } = item
        const proposed = 'default' in item ? { default: item.default } : {}
        yield {
          type: 'data-errand-question',
          id: questionId,
          data: { taskId, questionId, question, schema, ...proposed },
        }
        return
      }
      case 'progress':
        yield {
          type: 'data-errand-progress',
          id: 'progress',
          data: { taskId, fraction: item.fraction, note: item.note },
        }
        return
      case 'tool_call':
        yield* this.#endText()
        yield* this.#openStep(this.#step?.messageId)
        this.#calls.add(item.callId)
        yield { type: 'tool-input-available', toolName: item.tool, input: item.args ?? null, ...toolPart(item.callId) }
        return
      case 'tool_result':
        // A call of an earlier turn, which is part of another UI message.
        if (!this.#calls.has(item.callId)) return
        if (item.error === undefined) {
          yield { type: 'tool-output-available', output: item.result ?? null, ...toolPart(item.callId) }
        } else yield { type: 'tool-output-error', errorText: item.error.message, ...toolPart(item.callId) }
        return
      case 'error':
        if (item.willRetry) yield* this.#breakOff()
        else yield { type: 'error', errorText: item.error.message }
        return
      case 'end':
        yield* this.#end(item.status)
    }
  }

  *#piece({ content, messageId, offset = 0 }: Content): Generator<UiMessageChunk> {
    if (messageId === undefined) {
      yield* this.#openStep(undefined)
      yield* this.#appendText('output', content)
      return
    }
    if (this.#gapIn === messageId) return
    const said = this.#text?.id === messageId ? this.#text.said.length : 0
    if (offset !== said) {
      this.#gapIn = messageId
      return
    }
    yield* this.#openStep(messageId)
    yield* this.#appendText(messageId, content)
  }

  *#message({ messageId, content }: Message): Generator<UiMessageChunk> {
    yield* this.#openStep(messageId)
    const said = this.#text?.id === messageId ? this.#text.said : ''
    const rest = content.startsWith(said) ? content.slice(said.length) : content
    if (rest !== '') yield* this.#appendText(messageId, rest)
    yield* this.#endText()
    this.#gapIn = undefined
  }

  /** A step is one answer of the model with its calls. A step that restarts unfinished discards its output. */
  *#openStep(messageId: string | undefined): Generator<UiMessageChunk> {
    if (this.#step !== undefined && this.#step.messageId === messageId) return
    if (this.#step !== undefined && this.#text !== undefined && this.#text.id === this.#step.messageId) {
      yield* this.#breakOff()
    }
    yield* this.#endStep()
    this.#step = { messageId }
    yield { type: 'start-step' }
  }

  *#breakOff(): Generator<UiMessageChunk> {
    if (this.#text === undefined) return
    yield* this.#endText()
    yield { type: 'reset-step' }
  }

  *#appendText(id: string, delta: string): Generator<UiMessageChunk> {
    if (this.#text?.id !== id) {
      yield* this.#endText()
      this.#text = { id, said: '' }
      yield { type: 'text-start', id }
    }
    this.#text.said += delta
    yield { type: 'text-delta', id, delta }
  }

  *#endText(): Generator<UiMessageChunk> {
    if (this.#text === undefined) return
    yield { type: 'text-end', id: this.#text.id }
    this.#text = undefined
  }

  *#endStep(): Generator<UiMessageChunk> {
    yield* this.#endText()
    if (this.#step === undefined) return
    this.#step = undefined
    yield { type: 'finish-step' }
  }

  *#end(status: 'completed' | 'failed' | 'canceled'): Generator<UiMessageChunk> {
    if (status === 'canceled') yield* this.#finish({ type: 'abort', reason: 'The task was canceled.' })
    else yield* this.#finish({ type: 'finish', finishReason: status === 'completed' ? 'stop' : 'error' })
  }

  *#finish(last: UiMessageChunk): Generator<UiMessageChunk> {
    yield* this.#endStep()
    this.#over = true
    yield last
  }

  /** A question may arrive before or after its status. */
  #isResting(): boolean {
    return resting.has(this.#status) && (this.#status === 'paused' || this.#hasQuestion)
  }
}

function toolPart(toolCallId: string) {
  return { toolCallId, providerExecuted: true, dynamic: true } as const
}
