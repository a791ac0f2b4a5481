// A bank for the example: a file with a line for each payment. Like a real one it makes a payment once for each key, so that a request which
// a crash has interrupted may be repeated.
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'

const payment = z.object({ key: z.string(), euros: z.number() })

export class Bank {
  readonly #file: string
  readonly #delayMs: number

  constructor(file: string, delayMs: number) {
    this.#file = file
    this.#delayMs = delayMs
  }

  async pay(key: string, euros: number): Promise<{ receipt: string }> {
    console.log(`paying ${key}`)
    if (!this.#payments().some((each) => each.key === key)) {
      appendFileSync(this.#file, `${JSON.stringify({ key, euros })}\n`)
    }
    // The payment is made, and the bank is slow to say so.
    await delay(this.#delayMs)
    return { receipt: key }
  }

  #payments(): Array<z.output<typeof payment>> {
    if (!existsSync(this.#file)) return []
    const lines = readFileSync(this.#file, 'utf8').split('\n')
    return lines.filter((line) => line !== '').map((line) => payment.parse(JSON.parse(line)))
  }
}
