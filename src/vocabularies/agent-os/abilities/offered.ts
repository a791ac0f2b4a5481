// All abilities of Agent OS, by their ids: what a task manager puts on the bus that it is given, and what the compiler knows of
// them there.
import type { AbilityHost } from '../../../abilities/ability-host.ts'
import type { TypesOf } from '../../../abilities/engine-ability-types.ts'
import { taskRoute } from '../../../abilities/task/route.ts'
import type { Ability } from '../../../bus/ability.ts'
import type { Bus } from '../../../bus/bus.ts'
import { ldgCallList } from './ldg/call-list.ts'
import { ldgCallSave } from './ldg/call-save.ts'
import { ldgMsgList } from './ldg/msg-list.ts'
import { ldgMsgSave } from './ldg/msg-save.ts'
import { ldgTaskGet } from './ldg/task-get.ts'
import { ldgTaskQuery } from './ldg/task-query.ts'
import { ldgTaskSave } from './ldg/task-save.ts'
import { taskActive } from './task/active.ts'
import { taskCancel } from './task/cancel.ts'
import { taskCreate } from './task/create.ts'
import { taskGet } from './task/get.ts'
import { taskKill } from './task/kill.ts'
import { taskList } from './task/list.ts'
import { taskSend } from './task/send.ts'
import { taskSpawn } from './task/spawn.ts'
import { taskStream } from './task/stream.ts'

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

/** The abilities of Agent OS by their ids, for `bus.call` and `bus.stream`. */
export type AgentOsAbilityTypes = { [K in keyof typeof offered]: TypesOf<ReturnType<(typeof offered)[K]>> }

/** `bus`: where they are to stand. */
export function agentOsAbilities(host: AbilityHost, bus: Bus): Ability[] {
  return Object.values(offered).map((ability) => ability(host, bus))
}
