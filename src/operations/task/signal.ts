// task:signal: sends a task what it waits for by name. `run.waitForSignal` waits for it.
import { z } from 'zod'
import { ErrandError } from '../../core/errors.ts'
import { faithfulImage } from '../../core/json.ts'
import { isExecutor } from '../../entities/executor.ts'
import { maxSignalBytes, signalIdSchema, signalNameSchema } from '../../entities/signal.ts'
import type { AbilityHost } from '../ability-host.ts'
import type { MachinesHere } from '../steps/machine-at-rest.ts'
import { signal } from '../steps/signal.ts'
import { taskChange } from './define-change.ts'

export const taskSignal = taskChange({
  id: 'task:signal',
  description: 'Sends a signal to a task, which gets it where it waits for this name, or when it does.',
  routes: [
    {
      endpoint: 'POST /tasks/{taskId}/signals',
      tag: 'Control',
      operationId: 'signalTask',
      summary: 'Send a signal to a task',
    },
  ],
  input: () => ({
    name: signalNameSchema()
      .refine(
        (name) => name !== '*' && !name.startsWith('xstate.'),
        'names that begin with `xstate.`, and `*`, are not sent to tasks',
      )
      .describe('What the task waits for.'),
    payload: z.unknown().optional().describe('JSON for the task, up to 256 kB. Default: true.'),
    id: signalIdSchema()
      .optional()
      .describe('Identifies what has happened: a signal of this name that was sent with this id is not sent again.'),
  }),
  args: ['name', 'payload'],
  step: ({ taskId, name, payload, id }, ctx, { host }) =>
    signal({ ...ctx, taskId, name, payload: payloadOf(payload), sentId: id ?? null, machines: machinesOf(host) }),
})

/** An engine that does not work only sends. */
function machinesOf({ drafter, redaction, isWorking }: AbilityHost): MachinesHere | undefined {
  if (!isWorking()) return undefined
  const { executors } = drafter.context
  return {
    redaction,
    traitsOf(name) {
      const executor = executors.get(name)
      return isExecutor(executor) ? executor.machine : undefined
    },
  }
}

/** @throws ErrandError INVALID_INPUT for null, which a wait returns after its time-out; LIMIT_EXCEEDED */
export function payloadOf(given: unknown): unknown {
  const payload = faithfulImage(given === undefined ? true : given, 'the payload', 'payload')
  if (payload === null) {
    throw new ErrandError(
      'INVALID_INPUT',
      'The payload of a signal cannot be null, because a wait for a signal returns null after its time-out. Leave it out for true.',
    )
  }
  const bytes = Buffer.byteLength(JSON.stringify(payload))
  if (bytes <= maxSignalBytes) return payload
  throw new ErrandError(
    'LIMIT_EXCEEDED',
    `The payload of a signal may have up to ${maxSignalBytes} bytes as JSON, and this one has ${bytes}. Store it elsewhere, and send where it is.`,
    { bytes, limit: maxSignalBytes },
  )
}
