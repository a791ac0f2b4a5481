// What durability costs an agent: a model step with its tool calls in a ledger, beside a plain loop in memory. The model answers at once.
import { join } from 'node:path'
import type { Course } from '../agent-loop/busy-model.ts'
import { type Walk, walkByEngine, walkPlainly } from '../agent-loop/loops.ts'
import { floorDurability } from '../floors/bare-database.ts'
import { defineRow, type Figures } from '../runner/row.ts'
import { quantile } from '../runner/statistics.ts'

interface Size {
  steps: number
  /** The last steps of a walk of this length are a case of their own. */
  longWalk: number
}

interface Given extends Course {
  /** How many of the last steps count; 0 for all. */
  last: number
}

/** The first steps are slower: code is compiled, pages are read. */
const warmUp = 5

function figuresOf({ stepsMs }: Walk, { last, steps }: Given): Figures {
  if (stepsMs.length !== steps) throw new Error(`${stepsMs.length} of ${steps} steps were made`)
  const counted = last > 0 ? stepsMs.slice(-last) : stepsMs.slice(Math.min(warmUp, steps - 1))
  return { p50: quantile(counted, 0.5), p95: quantile(counted, 0.95) }
}

export const agentStep = defineRow<Size, Given>({
  name: 'agent-step',
  title: 'A step of an agent',
  method:
    'In each of fifty steps, the model of a task calls tools. The time is that from one call of the model to the next. The plain loop ' +
    'calls the same model and functions, and keeps the messages in an array.',
  figures: {
    p50: { label: 'p50', unit: 'ms', better: 'less' },
    p95: { label: 'p95', unit: 'ms', better: 'less' },
  },
  sizes: {
    full: { steps: 50, longWalk: 200 },
    quick: { steps: 30, longWalk: 100 },
    tiny: { steps: 3, longWalk: 5 },
  },
  rounds: { full: 5, quick: 2, tiny: 1 },
  cases: ({ steps, longWalk }) => {
    const common = { steps, calls: 2, idleTools: 0, last: 0 }
    return [
      { name: 'two calls', given: common },
      { name: 'one call', given: { ...common, calls: 1 } },
      { name: 'six calls', given: { ...common, calls: 6 } },
      { name: '40 tools offered', given: { ...common, idleTools: 38 } },
      { name: 'after a long conversation', given: { ...common, steps: longWalk, last: Math.min(10, longWalk) } },
    ]
  },
  sides: {
    errand: {
      durability: floorDurability,
      measure: async (given, { errand, folder }) =>
        figuresOf(await walkByEngine(await errand(), join(folder, 'ledger.db'), given), given),
    },
    'errand in memory': {
      durability: '',
      measure: async (given, { errand }) => figuresOf(await walkByEngine(await errand(), ':memory:', given), given),
    },
    'plain loop': {
      durability: '',
      measure: async (given) => figuresOf(await walkPlainly(given), given),
    },
  },
  goals: [{ figure: 'p50', case: 'two calls', as: 'difference', beside: { side: 'plain loop' }, atMost: 2 }],
})
