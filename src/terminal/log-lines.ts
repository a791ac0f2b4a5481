// The items of a task's stream as lines for people. Output arrives in pieces that need not end where a line does, and
// an escape sequence cut in two could slip through the cleaning: so only whole lines are passed on. What a conversation announces
// of an agent's calls is told by the calls themselves, which know more.

import type { StreamItem } from '../engine-api.ts'
import { failureSuffix } from '../entities/task.ts'
import { toolText } from './event-fields.ts'
import { cleanLine, firstLine } from './terminal-text.ts'

export class LogLines {
  readonly #print: (line: string) => void
  #rest = ''
  /** Ids, without their kind, of the calls that the conversation tells of. */
  readonly #told = new Set<string>()

  constructor(print: (line: string) => void) {
    this.#print = print
  }

  take(item: StreamItem): void {
    switch (item.type) {
      case 'content':
        // The pieces of a message come again, whole, when it is done.
        if (item.messageId === undefined) this.#output(item.content)
        return
      case 'message':
        if (!this.#announcesCall(item)) this.note(`${item.role}: ${item.content}`)
        return
      case 'tool_call':
        if (this.#told.has(bareId(item.callId))) this.note(toolText(item.tool, item.args))
        return
      case 'tool_result':
        if (this.#told.has(bareId(item.callId))) this.note(resultText(item))
        return
      case 'question':
        this.note(`asks: ${item.question}`)
        return
      case 'error':
        this.note(`failed${failureSuffix(item.error.message)}${item.willRetry ? ' (another attempt follows)' : ''}`)
        return
      case 'start':
      case 'state':
      case 'progress':
      case 'end':
        return
    }
  }

  /** A line of its own: also for what happened beside what the task said. */
  note(text: string): void {
    this.end()
    this.#print(text)
  }

  #announcesCall({ messageId, announcement }: Extract<StreamItem, { type: 'message' }>): boolean {
    const [, id, which] = (announcement && /^msg-(.+)-(start|end)$/.exec(messageId)) || []
    if (id === undefined) return false
    if (which === 'start') this.#told.add(id)
    return this.#told.has(id)
  }

  /** Passes on what is left of a line without an end. */
  end(): void {
    if (this.#rest !== '') this.#print(this.#rest)
    this.#rest = ''
  }

  #output(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#print(line)
  }
}

const maxResultLength = 200

function bareId(callId: string): string {
  return callId.replace(/^call-/, '')
}

function resultText({ tool, result, error }: Extract<StreamItem, { type: 'tool_result' }>): string {
  if (error !== undefined) return `${cleanLine(tool)} failed: ${firstLine(error.message)}`
  const text = cleanLine(typeof result === 'string' ? result : (JSON.stringify(result) ?? ''))
  return `${cleanLine(tool)} gave ${text.length > maxResultLength ? `${text.slice(0, maxResultLength)}…` : text}`
}
