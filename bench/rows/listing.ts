// How long it takes to list tasks and to load the conversation of each.

import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { messageRow, taskRow } from '../../test/ledger/factories.ts'
import { floorDurability } from '../floors/bare-database.ts'
import { loadEntry } from '../runner/package.ts'
import { defineRow, type World } from '../runner/row.ts'

interface Size {
  tasks: number
  /** Of each task. */
  messages: number
}

const nameOf = ({ tasks, messages }: Size): string => `${tasks.toLocaleString('en')} tasks with ${messages} messages`

async function fill({ packageRoot }: World, path: string, { tasks, messages }: Size): Promise<void> {
  const { openLedger } = await loadEntry<typeof import('errand/testing')>(packageRoot, 'errand/testing')
  const ledger = await openLedger(path)
  await ledger.step({
    name: 'fill',
    *decide(tx) {
      for (let n = 0; n < tasks; n++) {
        yield* tx.task.insert(taskRow({ id: `task-${n}`, priority: n % 10 }))
        for (let m = 0; m < messages; m++) {
          const content = 'hello '.repeat(20)
          yield* tx.message.append(messageRow({ id: `message-${n}-${m}`, taskId: `task-${n}`, content }))
        }
      }
    },
  })
  await ledger.close()
}

export const listing = defineRow<Size, Size>({
  name: 'listing',
  title: 'Lists and conversations (X-016)',
  method: 'All tasks of a ledger are listed by priority, and then the messages of each are loaded.',
  figures: {
    list: { label: 'list', unit: 'ms', better: 'less' },
    messages: { label: 'all messages', unit: 'ms', better: 'less' },
  },
  sizes: {
    full: { tasks: 1_000, messages: 100 },
    quick: { tasks: 1_000, messages: 100 },
    tiny: { tasks: 10, messages: 3 },
  },
  rounds: { full: 5, quick: 3, tiny: 1 },
  cases: (size) => [{ name: nameOf(size), given: size }],
  sides: {
    errand: {
      durability: floorDurability,
      async measure(given, world) {
        const { createEngine } = await world.errand()
        const ledger = join(world.folder, 'ledger.db')
        await fill(world, ledger, given)
        await using engine = await createEngine({ ledger, work: false })
        const began = performance.now()
        const { tasks } = await engine.list({ limit: given.tasks })
        const listed = performance.now()
        let messages = 0
        for (const { id } of tasks) messages += (await engine.messages(id)).length
        const loaded = performance.now()
        if (messages !== given.tasks * given.messages) throw new Error(`${messages} messages were loaded`)
        return { list: listed - began, messages: loaded - listed }
      },
    },
  },
  goals: [{ figure: 'messages', case: nameOf({ tasks: 1_000, messages: 100 }), as: 'value', atMost: 2_000 }],
})
