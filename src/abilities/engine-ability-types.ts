// What the compiler knows of the engine's own abilities by id: `bus.call('task:create', { goal })` is checked and typed.
import type { Ability } from '../bus/ability.ts'
import type { agentComplete } from './agent/complete.ts'
import type { agentJoin } from './agent/join.ts'
import type { agentTimeline } from './agent/timeline.ts'
import type { boardClaim } from './board/claim.ts'
import type { boardClaimNext } from './board/claim-next.ts'
import type { boardComplete } from './board/complete.ts'
import type { boardCreate } from './board/create.ts'
import type { boardDelete } from './board/delete.ts'
import type { boardGet } from './board/get.ts'
import type { boardGraph } from './board/graph.ts'
import type { boardHeartbeat } from './board/heartbeat.ts'
import type { boardInbox } from './board/inbox.ts'
import type { boardList } from './board/list.ts'
import type { boardLog } from './board/log.ts'
import type { boardOpen } from './board/open.ts'
import type { boardReady } from './board/ready.ts'
import type { boardRelease } from './board/release.ts'
import type { boardRequest } from './board/request.ts'
import type { boardRequests } from './board/requests.ts'
import type { boardRespond } from './board/respond.ts'
import type { boardSend } from './board/send.ts'
import type { boardUpdate } from './board/update.ts'
import type { boardWait } from './board/wait.ts'
import type { boardWhy } from './board/why.ts'
import type { engineMachines } from './engine/machines.ts'
import type { engineStatus } from './engine/status.ts'
import type { eventFeed } from './event/feed.ts'
import type { eventList } from './event/list.ts'
import type { eventPages } from './event/pages.ts'
import type { memArchive } from './mem/archive.ts'
import type { memBranches } from './mem/branches.ts'
import type { memConsolidate } from './mem/consolidate.ts'
import type { memFacts } from './mem/facts.ts'
import type { memHistory } from './mem/history.ts'
import type { memMerge } from './mem/merge.ts'
import type { memObservations } from './mem/observations.ts'
import type { memObserve } from './mem/observe.ts'
import type { memRemember } from './mem/remember.ts'
import type { memRetrieve } from './mem/retrieve.ts'
import type { memSave } from './mem/save.ts'
import type { memWhy } from './mem/why.ts'
import type { modelEmbed } from './model/embed.ts'
import type { modelList } from './model/list.ts'
import type { modelLlm } from './model/llm.ts'
import type { modelRegister } from './model/register.ts'
import type { objectiveAdd } from './objective/add.ts'
import type { objectiveLog } from './objective/log.ts'
import type { objectiveUpdate } from './objective/update.ts'
import type { taskActive } from './task/active.ts'
import type { taskAnswer } from './task/answer.ts'
import type { taskBlock } from './task/block.ts'
import type { taskCalls } from './task/calls.ts'
import type { taskCancel } from './task/cancel.ts'
import type { taskClaim } from './task/claim.ts'
import type { taskComplete } from './task/complete.ts'
import type { taskContext } from './task/context.ts'
import type { taskCreate } from './task/create.ts'
import type { taskDelete } from './task/delete.ts'
import type { taskFail } from './task/fail.ts'
import type { taskGet } from './task/get.ts'
import type { taskGraph } from './task/graph.ts'
import type { taskHeartbeat } from './task/heartbeat.ts'
import type { taskKill } from './task/kill.ts'
import type { taskList } from './task/list.ts'
import type { taskMessages } from './task/messages.ts'
import type { taskNote } from './task/note.ts'
import type { taskOutput } from './task/output.ts'
import type { taskPause } from './task/pause.ts'
import type { taskRelease } from './task/release.ts'
import type { taskResume } from './task/resume.ts'
import type { taskRetry } from './task/retry.ts'
import type { taskRoute } from './task/route.ts'
import type { taskRows } from './task/rows.ts'
import type { taskRuns } from './task/runs.ts'
import type { taskSend } from './task/send.ts'
import type { taskShow } from './task/show.ts'
import type { taskSpawn } from './task/spawn.ts'
import type { taskStart } from './task/start.ts'
import type { taskStream } from './task/stream.ts'
import type { taskSubmit } from './task/submit.ts'
import type { taskTeams } from './task/teams.ts'
import type { taskUnblock } from './task/unblock.ts'
import type { taskUpdate } from './task/update.ts'
import type { taskWait } from './task/wait.ts'
import type { taskWatch } from './task/watch.ts'
import type { taskWhy } from './task/why.ts'
import type { taskTypes } from './task/work-types.ts'

/** `output` is what a call comes to; of a stream that gives only chunks it is never. */
export type TypesOf<A> =
  A extends Ability<infer Input, infer Chunk, infer Output> ? { input: Input; output: Output; chunk: Chunk } : never

/** The abilities that every engine puts on its bus. */
export interface EngineAbilityTypes {
  'agent:complete': TypesOf<ReturnType<typeof agentComplete>>
  'agent:join': TypesOf<ReturnType<typeof agentJoin>>
  'agent:timeline': TypesOf<ReturnType<typeof agentTimeline>>
  'board:claim': TypesOf<ReturnType<typeof boardClaim>>
  'board:claim_next': TypesOf<ReturnType<typeof boardClaimNext>>
  'board:complete': TypesOf<ReturnType<typeof boardComplete>>
  'board:create': TypesOf<ReturnType<typeof boardCreate>>
  'board:delete': TypesOf<ReturnType<typeof boardDelete>>
  'board:get': TypesOf<ReturnType<typeof boardGet>>
  'board:graph': TypesOf<ReturnType<typeof boardGraph>>
  'board:heartbeat': TypesOf<ReturnType<typeof boardHeartbeat>>
  'board:inbox': TypesOf<ReturnType<typeof boardInbox>>
  'board:list': TypesOf<ReturnType<typeof boardList>>
  'board:log': TypesOf<ReturnType<typeof boardLog>>
  'board:open': TypesOf<ReturnType<typeof boardOpen>>
  'board:ready': TypesOf<ReturnType<typeof boardReady>>
  'board:release': TypesOf<ReturnType<typeof boardRelease>>
  'board:request': TypesOf<ReturnType<typeof boardRequest>>
  'board:requests': TypesOf<ReturnType<typeof boardRequests>>
  'board:respond': TypesOf<ReturnType<typeof boardRespond>>
  'board:send': TypesOf<ReturnType<typeof boardSend>>
  'board:update': TypesOf<ReturnType<typeof boardUpdate>>
  'board:wait': TypesOf<ReturnType<typeof boardWait>>
  'board:why': TypesOf<ReturnType<typeof boardWhy>>
  'engine:machines': TypesOf<ReturnType<typeof engineMachines>>
  'engine:status': TypesOf<ReturnType<typeof engineStatus>>
  'event:feed': TypesOf<ReturnType<typeof eventFeed>>
  'event:list': TypesOf<ReturnType<typeof eventList>>
  'event:pages': TypesOf<ReturnType<typeof eventPages>>
  'mem:archive': TypesOf<ReturnType<typeof memArchive>>
  'mem:branches': TypesOf<ReturnType<typeof memBranches>>
  'mem:consolidate': TypesOf<ReturnType<typeof memConsolidate>>
  'mem:facts': TypesOf<ReturnType<typeof memFacts>>
  'mem:history': TypesOf<ReturnType<typeof memHistory>>
  'mem:merge': TypesOf<ReturnType<typeof memMerge>>
  'mem:observations': TypesOf<ReturnType<typeof memObservations>>
  'mem:observe': TypesOf<ReturnType<typeof memObserve>>
  'mem:remember': TypesOf<ReturnType<typeof memRemember>>
  'mem:retrieve': TypesOf<ReturnType<typeof memRetrieve>>
  'mem:save': TypesOf<ReturnType<typeof memSave>>
  'mem:why': TypesOf<ReturnType<typeof memWhy>>
  'model:embed': TypesOf<ReturnType<typeof modelEmbed>>
  'model:list': TypesOf<ReturnType<typeof modelList>>
  'model:llm': TypesOf<ReturnType<typeof modelLlm>>
  'model:register': TypesOf<ReturnType<typeof modelRegister>>
  'objective:add': TypesOf<ReturnType<typeof objectiveAdd>>
  'objective:log': TypesOf<ReturnType<typeof objectiveLog>>
  'objective:update': TypesOf<ReturnType<typeof objectiveUpdate>>
  'task:active': TypesOf<ReturnType<typeof taskActive>>
  'task:answer': TypesOf<ReturnType<typeof taskAnswer>>
  'task:block': TypesOf<ReturnType<typeof taskBlock>>
  'task:calls': TypesOf<ReturnType<typeof taskCalls>>
  'task:cancel': TypesOf<ReturnType<typeof taskCancel>>
  'task:claim': TypesOf<ReturnType<typeof taskClaim>>
  'task:complete': TypesOf<ReturnType<typeof taskComplete>>
  'task:context': TypesOf<ReturnType<typeof taskContext>>
  'task:create': TypesOf<ReturnType<typeof taskCreate>>
  'task:delete': TypesOf<ReturnType<typeof taskDelete>>
  'task:fail': TypesOf<ReturnType<typeof taskFail>>
  'task:get': TypesOf<ReturnType<typeof taskGet>>
  'task:graph': TypesOf<ReturnType<typeof taskGraph>>
  'task:heartbeat': TypesOf<ReturnType<typeof taskHeartbeat>>
  'task:kill': TypesOf<ReturnType<typeof taskKill>>
  'task:list': TypesOf<ReturnType<typeof taskList>>
  'task:messages': TypesOf<ReturnType<typeof taskMessages>>
  'task:note': TypesOf<ReturnType<typeof taskNote>>
  'task:output': TypesOf<ReturnType<typeof taskOutput>>
  'task:pause': TypesOf<ReturnType<typeof taskPause>>
  'task:release': TypesOf<ReturnType<typeof taskRelease>>
  'task:resume': TypesOf<ReturnType<typeof taskResume>>
  'task:retry': TypesOf<ReturnType<typeof taskRetry>>
  'task:route': TypesOf<ReturnType<typeof taskRoute>>
  'task:rows': TypesOf<ReturnType<typeof taskRows>>
  'task:runs': TypesOf<ReturnType<typeof taskRuns>>
  'task:send': TypesOf<ReturnType<typeof taskSend>>
  'task:show': TypesOf<ReturnType<typeof taskShow>>
  'task:spawn': TypesOf<ReturnType<typeof taskSpawn>>
  'task:start': TypesOf<ReturnType<typeof taskStart>>
  'task:stream': TypesOf<ReturnType<typeof taskStream>>
  'task:submit': TypesOf<ReturnType<typeof taskSubmit>>
  'task:teams': TypesOf<ReturnType<typeof taskTeams>>
  'task:types': TypesOf<ReturnType<typeof taskTypes>>
  'task:unblock': TypesOf<ReturnType<typeof taskUnblock>>
  'task:update': TypesOf<ReturnType<typeof taskUpdate>>
  'task:wait': TypesOf<ReturnType<typeof taskWait>>
  'task:watch': TypesOf<ReturnType<typeof taskWatch>>
  'task:why': TypesOf<ReturnType<typeof taskWhy>>
}

declare module '../bus/ability-types.ts' {
  interface AbilityTypes extends EngineAbilityTypes {}
}
