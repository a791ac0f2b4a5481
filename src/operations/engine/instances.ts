// engine:instances: the engines that have the ledger open, and those that had it open within the last day.
import { z } from 'zod'
import { defineOperation } from '../define-operation.ts'
import { refuseTasks } from '../own-tasks.ts'

const maxInstances = 200

const instanceStates = ['working', 'silent', 'lost', 'ended'] as const

/** Engines with `work: false` only send commands, and are not listed. */
export const engineInstances = defineOperation({
  id: 'engine:instances',
  access: 'read',
  description: 'Lists the engines that work on the ledger, and those that have ended within a day, newest first.',
  routes: [
    {
      endpoint: 'GET /instances',
      tag: 'Engine',
      operationId: 'listInstances',
      summary: 'List the engines on the ledger',
    },
  ],
  input: () =>
    z.strictObject({ limit: z.int().min(1).max(maxInstances).default(50).describe('How many, newest first.') }),
  output: () =>
    z.object({
      instances: z.array(
        z.object({
          id: z.string(),
          pid: z.int(),
          /** Name of the host on which its process id counts. */
          host: z.string(),
          /** Times in epoch milliseconds. */
          startedAt: z.number(),
          /** When its lease ends, or has ended, unless it is renewed. */
          leaseUntil: z.number(),
          endedAt: z.number().nullable(),
          /**
           * `silent`: it has not renewed its lease in time; `lost`: it is dead, and another engine takes over its runs; `ended`: it was closed,
           * or its runs were taken over.
           */
          state: z.enum(instanceStates),
          /** It is the engine that answers. */
          own: z.boolean(),
        }),
      ),
      /** Epoch milliseconds of the answer. */
      at: z.number(),
    }),
  models: false,
  handle: async ({ limit }, { caller }, host) => {
    refuseTasks(caller, 'engine:instances')
    const engine = await host.engineFor(caller)
    const found = await host.read((tx) => tx.instance.latest(limit))
    const { at } = await host.stepContext()
    const instances = found.map(async ({ host: place, ...instance }) => ({
      ...instance,
      host: place.split(' ')[0] as string,
      state: await stateOf(instance, at, (id) => host.lifeOf(id)),
      own: instance.id === engine.instanceId,
    }))
    return { instances: await Promise.all(instances), at }
  },
})

async function stateOf(
  { id, leaseUntil, endedAt }: { id: string; leaseUntil: number; endedAt: number | null },
  at: number,
  lifeOf: (id: string) => Promise<string>,
): Promise<(typeof instanceStates)[number]> {
  if (endedAt !== null) return 'ended'
  const life = await lifeOf(id)
  if (life === 'dead') return 'lost'
  return life === 'silent' || leaseUntil <= at ? 'silent' : 'working'
}
