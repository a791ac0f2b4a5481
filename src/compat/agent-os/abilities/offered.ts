// All abilities of Agent OS by id: registered by a task manager on its bus, and the types of that bus.

import { taskRoute } from '../../../agents/operations/route.ts'
import type { Ability } from '../../../bus/ability.ts'
import type { Bus } from '../../../bus/bus.ts'
import type { TypesOf } from '../../../engine/engine-ability-types.ts'
import type { AbilityHost } from '../../../operations/ability-host.ts'
import { taskCreate, taskSpawn } from './create-tasks.ts'
import { taskCancel, taskKill } from './end-tasks.ts'
import { ldgCallList, ldgCallSave } from './ledger-calls.ts'
import { ldgMsgList, ldgMsgSave } from './ledger-messages.ts'
import { ldgTaskGet, ldgTaskQuery, ldgTaskSave } from './ledger-tasks.ts'
import { taskActive, taskGet, taskList, taskStream } from './read-tasks.ts'
import { taskSend } from './send.ts'

const offered = {
  'ldg:call:list': ldgCallList,
  'ldg:call:save': ldgCallSave,
  'ldg:msg:list': ldgMsgList,
  'ldg:msg:save': ldgMsgSave,
  'ldg:task:get': ldgTaskGet,
  'ldg:task:query': ldgTaskQuery,
  'ldg:task:save': ldgTaskSave,
  'task:active': taskActive,
  'task:cancel': taskCancel,
  'task:create': taskCreate,
  'task:get': taskGet,
  'task:kill': taskKill,
  'task:list': taskList,
  'task:route': taskRoute,
  'task:send': taskSend,
  'task:spawn': taskSpawn,
  'task:stream': taskStream,
} satisfies Record<string, (host: AbilityHost, bus: Bus) => Ability>

/** The abilities of Agent OS by id, for `bus.call` and `bus.stream`. */
export type AgentOsAbilityTypes = { [K in keyof typeof offered]: TypesOf<ReturnType<(typeof offered)[K]>> }

/** `bus`: the bus on which they are registered. */
export function agentOsAbilities(host: AbilityHost, bus: Bus): Ability[] {
  return Object.values(offered).map((ability) => ability(host, bus))
}
