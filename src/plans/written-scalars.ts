// The variables of a plan are texts as they are written: `3.10` stays `3.10` in `env`, and is a number everywhere else. A mapping of variables may
// stand elsewhere and come to its place by an alias or a merge key, so numbers and booleans are symbols until all mappings are in their places.
import { isExact } from '../core/json-text.ts'
import { startOf } from '../core/storable-text.ts'

interface Written {
  value: number | boolean
  text: string
  offset: number | undefined
}

type Mapping = Record<string, unknown>
type Refuse = (offset: number | undefined, message: string) => Error

export class WrittenScalars {
  readonly #written = new Map<unknown, Written>()

  /** Stands for the value until `settle`. */
  symbolFor(written: Written): symbol {
    const symbol = Symbol(written.text)
    this.#written.set(symbol, written)
    return symbol
  }

  /**
   * The plan with texts in its variables, and values everywhere else.
   * @throws what `refuse` returns, for a number that cannot be stored exactly
   */
  settle(plan: unknown, refuse: Refuse): unknown {
    this.#settleVariables(plan, new Set())
    return this.#settleValues(plan, refuse, new Set())
  }

  /** @param seen what an alias puts at several places is settled once */
  #settleVariables(task: unknown, seen: Set<unknown>): void {
    if (!isMapping(task) || seen.has(task)) return
    seen.add(task)
    const { env, tasks } = task
    if (isMapping(env)) {
      task['env'] = Object.fromEntries(
        Object.entries(env).map(([name, value]) => [name, this.#written.get(value)?.text ?? value]),
      )
    }
    if (isMapping(tasks)) for (const each of Object.values(tasks)) this.#settleVariables(each, seen)
  }

  #settleValues(value: unknown, refuse: Refuse, seen: Set<unknown>): unknown {
    const written = this.#written.get(value)
    if (written !== undefined) return exactly(written, refuse)
    if (typeof value !== 'object' || value === null || seen.has(value)) return value
    seen.add(value)
    for (const [key, inner] of Object.entries(value)) (value as Mapping)[key] = this.#settleValues(inner, refuse, seen)
    return value
  }
}

/** @throws what `refuse` returns, for a number that cannot be stored exactly */
export function exactly({ value, text, offset }: Written, refuse: Refuse): number | boolean {
  if (typeof value === 'boolean' || !Number.isFinite(value) || isExact(value, text)) return value
  throw refuse(offset, `The number ${startOf(text, 40)} cannot be stored exactly. Write it as text, in quotes`)
}

function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
