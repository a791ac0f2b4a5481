// The items of a task's stream as lines for people. Output arrives in pieces that need not end where a line does, and
// an escape sequence cut in two could slip through the cleaning: so only whole lines are passed on.
import type { StreamItem } from '../../api.ts'

export class LogLines {
  readonly #print: (line: string) => void
  #rest = ''

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
        this.#line(`${item.role}: ${item.content}`)
        return
      case 'question':
        this.#line(`asks: ${item.question}`)
        return
      case 'error':
        this.#line(`failed: ${item.error.message}${item.willRetry ? ' (another attempt follows)' : ''}`)
        return
      case 'start':
      case 'state':
      case 'progress':
      case 'tool_call':
      case 'tool_result':
      case 'end':
        return
    }
  }

  /** Passes on what is left of a line without an end. */
  end(): void {
    if (this.#rest !== '') this.#print(this.#rest)
    this.#rest = ''
  }

  #line(text: string): void {
    this.end()
    this.#print(text)
  }

  #output(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#print(line)
  }
}
