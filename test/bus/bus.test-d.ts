// Types flow from an ability to call and stream, by the ability itself and by its id; a wrong input does not compile. Checked by
// plain tsc: this file is never run.
import { expectTypeOf } from 'vitest'
import { z } from 'zod'
import { type Ability, defineAbility } from '../../src/bus/ability.ts'
import type { AbilityContext } from '../../src/bus/ability-context.ts'
import { createBus } from '../../src/bus/bus.ts'

declare module '../../src/bus/ability-types.ts' {
  interface AbilityTypes {
    'typed:add': { input: { text: string }; output: { id: string } }
    'typed:watch': { input: { since: number }; output: string[]; chunk: string }
  }
}

const bus = createBus()

const add = defineAbility({
  id: 'notes:add',
  description: 'Keep a note.',
  input: z.object({ text: z.string(), stars: z.number().default(1) }),
  output: z.object({ length: z.string().transform((text) => text.length) }),
  scope: (input) => {
    expectTypeOf(input).toEqualTypeOf<{ text: string; stars: number }>()
    return []
  },
  handle: (input, context) => {
    expectTypeOf(input).toEqualTypeOf<{ text: string; stars: number }>()
    expectTypeOf(context).toEqualTypeOf<AbilityContext>()
    return { length: input.text }
  },
})
expectTypeOf(add).toEqualTypeOf<
  Ability<{ text: string; stars?: number | undefined }, { length: number }, { length: number }, 'notes:add'>
>()
expectTypeOf(await bus.call(add, { text: 'a' })).toEqualTypeOf<{ length: number }>()
// @ts-expect-error text must be a string
await bus.call(add, { text: 7 })

const watch = defineAbility({
  id: 'notes:watch',
  description: 'Notes as they come.',
  input: z.object({ since: z.number() }),
  output: z.object({ text: z.string() }),
  async *stream({ since }) {
    expectTypeOf(since).toEqualTypeOf<number>()
    yield { text: `${since}` }
  },
  drain: async (chunks) => {
    expectTypeOf(chunks).toEqualTypeOf<Array<{ text: string }>>()
    return chunks.length
  },
})
expectTypeOf(await bus.call(watch, { since: 1 })).toEqualTypeOf<number>()
expectTypeOf(bus.stream(watch, { since: 1 })).toEqualTypeOf<AsyncGenerator<{ text: string }, void, undefined>>()

const plain = defineAbility({
  id: 'notes:plain',
  description: 'By JSON Schema.',
  input: { type: 'object' },
  output: { type: 'string' },
  handle: (input) => {
    expectTypeOf(input).toEqualTypeOf<unknown>()
    return 'anything'
  },
})
expectTypeOf(await bus.call(plain, 7)).toEqualTypeOf<unknown>()

// Abilities of all kinds fit into one list, and are registered from there.
const all: Ability[] = [add, watch, plain]
for (const ability of all) bus.register(ability)
bus.register({
  id: 'notes:count',
  description: 'How many there are.',
  input: z.object({ of: z.string() }),
  output: z.number(),
  handle: (input) => {
    expectTypeOf(input).toEqualTypeOf<{ of: string }>()
    return input.of.length
  },
})
// @ts-expect-error an output that does not fit
defineAbility({ id: 'a:b', description: 'Wrong.', input: z.object({}), output: z.number(), handle: () => 'text' })
// @ts-expect-error neither handle nor stream
defineAbility({ id: 'a:b', description: 'Nothing.', input: z.object({}), output: z.number() })

expectTypeOf(await bus.call('typed:add', { text: 'a' })).toEqualTypeOf<{ id: string }>()
// @ts-expect-error a known id has a known input
await bus.call('typed:add', { text: 7 })
expectTypeOf(await bus.call('typed:watch', { since: 1 })).toEqualTypeOf<string[]>()
expectTypeOf(bus.stream('typed:watch', { since: 1 })).toEqualTypeOf<AsyncGenerator<string, void, undefined>>()
expectTypeOf(await bus.call('un:known', 7)).toEqualTypeOf<unknown>()
declare const someId: string
expectTypeOf(await bus.call(someId, 7)).toEqualTypeOf<unknown>()
expectTypeOf(await bus.invoke(someId)('{}')).toEqualTypeOf<string>()
