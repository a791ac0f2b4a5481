// All abilities of an engine, put on its bus; one file each, and this is their list.
import type { Ability } from '../bus/ability.ts'
import type { Bus } from '../bus/bus.ts'
import type { AbilityHost } from './ability-host.ts'
import { agentComplete } from './agent/complete.ts'
import { agentJoin } from './agent/join.ts'
import { agentTimeline } from './agent/timeline.ts'
import { boardClaim } from './board/claim.ts'
import { boardClaimNext } from './board/claim-next.ts'
import { boardComplete } from './board/complete.ts'
import { boardCreate } from './board/create.ts'
import { boardDelete } from './board/delete.ts'
import { boardGet } from './board/get.ts'
import { boardGraph } from './board/graph.ts'
import { boardHeartbeat } from './board/heartbeat.ts'
import { boardInbox } from './board/inbox.ts'
import { boardList } from './board/list.ts'
import { boardLog } from './board/log.ts'
import { boardOpen } from './board/open.ts'
import { boardReady } from './board/ready.ts'
import { boardRelease } from './board/release.ts'
import { boardRequest } from './board/request.ts'
import { boardRequests } from './board/requests.ts'
import { boardRespond } from './board/respond.ts'
import { boardSend } from './board/send.ts'
import { boardUpdate } from './board/update.ts'
import { boardWait } from './board/wait.ts'
import { boardWhy } from './board/why.ts'
import { engineMachines } from './engine/machines.ts'
import { engineStatus } from './engine/status.ts'
import { eventFeed } from './event/feed.ts'
import { eventList } from './event/list.ts'
import { eventPages } from './event/pages.ts'
import { memArchive } from './mem/archive.ts'
import { memBranches } from './mem/branches.ts'
import { memConsolidate } from './mem/consolidate.ts'
import { memFacts } from './mem/facts.ts'
import { memHistory } from './mem/history.ts'
import { memMerge } from './mem/merge.ts'
import { memObservations } from './mem/observations.ts'
import { memObserve } from './mem/observe.ts'
import { memRemember } from './mem/remember.ts'
import { memRetrieve } from './mem/retrieve.ts'
import { memSave } from './mem/save.ts'
import { memWhy } from './mem/why.ts'
import { modelEmbed } from './model/embed.ts'
import { modelList } from './model/list.ts'
import { modelLlm } from './model/llm.ts'
import { modelRegister } from './model/register.ts'
import { objectiveAdd } from './objective/add.ts'
import { objectiveLog } from './objective/log.ts'
import { objectiveUpdate } from './objective/update.ts'
import { taskActive } from './task/active.ts'
import { taskAnswer } from './task/answer.ts'
import { taskBlock } from './task/block.ts'
import { taskCalls } from './task/calls.ts'
import { taskCancel } from './task/cancel.ts'
import { taskClaim } from './task/claim.ts'
import { taskComplete } from './task/complete.ts'
import { taskContext } from './task/context.ts'
import { taskCreate } from './task/create.ts'
import { taskDelete } from './task/delete.ts'
import { taskFail } from './task/fail.ts'
import { taskGet } from './task/get.ts'
import { taskGraph } from './task/graph.ts'
import { taskHeartbeat } from './task/heartbeat.ts'
import { taskKill } from './task/kill.ts'
import { taskList } from './task/list.ts'
import { taskMessages } from './task/messages.ts'
import { taskNote } from './task/note.ts'
import { taskOutput } from './task/output.ts'
import { taskPause } from './task/pause.ts'
import { taskRelease } from './task/release.ts'
import { taskResume } from './task/resume.ts'
import { taskRetry } from './task/retry.ts'
import { taskRoute } from './task/route.ts'
import { taskRows } from './task/rows.ts'
import { taskRuns } from './task/runs.ts'
import { taskSend } from './task/send.ts'
import { taskShow } from './task/show.ts'
import { taskSpawn } from './task/spawn.ts'
import { taskStart } from './task/start.ts'
import { taskStream } from './task/stream.ts'
import { taskSubmit } from './task/submit.ts'
import { taskTeams } from './task/teams.ts'
import { taskUnblock } from './task/unblock.ts'
import { taskUpdate } from './task/update.ts'
import { taskWait } from './task/wait.ts'
import { taskWatch } from './task/watch.ts'
import { taskWhy } from './task/why.ts'
import { taskTypes } from './task/work-types.ts'

const hosted: ReadonlyArray<(host: AbilityHost) => Ability> = [
  agentComplete,
  agentJoin,
  agentTimeline,
  boardClaim,
  boardClaimNext,
  boardComplete,
  boardCreate,
  boardDelete,
  boardGet,
  boardGraph,
  boardHeartbeat,
  boardList,
  boardLog,
  boardOpen,
  boardReady,
  boardRelease,
  boardInbox,
  boardRequest,
  boardRequests,
  boardRespond,
  boardSend,
  boardWait,
  boardUpdate,
  boardWhy,
  engineMachines,
  engineStatus,
  eventFeed,
  eventList,
  eventPages,
  objectiveAdd,
  objectiveLog,
  objectiveUpdate,
  taskActive,
  taskAnswer,
  taskCancel,
  taskComplete,
  taskContext,
  taskCreate,
  taskGet,
  taskKill,
  taskList,
  taskMessages,
  taskNote,
  taskPause,
  taskResume,
  taskRetry,
  taskRoute,
  taskSend,
  taskSpawn,
  taskStream,
  taskTeams,
  taskTypes,
  taskWait,
  taskBlock,
  taskCalls,
  taskClaim,
  taskDelete,
  taskFail,
  taskGraph,
  taskHeartbeat,
  taskOutput,
  taskRelease,
  taskRows,
  taskRuns,
  taskShow,
  taskStart,
  taskSubmit,
  taskUnblock,
  taskUpdate,
  taskWatch,
  taskWhy,
]

/** Not where somebody else has brought one of the same id (conformance S1-070). */
const memory: ReadonlyArray<(host: AbilityHost) => Ability> = [
  memArchive,
  memBranches,
  memConsolidate,
  memFacts,
  memHistory,
  memMerge,
  memObservations,
  memObserve,
  memRemember,
  memRetrieve,
  memSave,
  memWhy,
]

/** Those of our own that others may bring, so that theirs are told from them. */
const ours = new WeakSet<object>()

/**
 * Registers them all, models where runs call them. Returns how to take them off again.
 * @throws ErrandError ALREADY_REGISTERED, with nothing registered.
 */
export function registerAbilities(bus: Bus, host: AbilityHost, runBus: Bus): () => void {
  const taken: Array<() => void> = []
  const leave = (): void => {
    for (const unregister of taken.splice(0)) unregister()
  }
  /** Only once there is a model: whoever brings a `model:llm` of their own may come later than the engine. */
  const offerModels = (): void => {
    if (runBus.has('model:llm')) return
    const llm = modelLlm(host.models)
    ours.add(llm)
    taken.push(runBus.register(llm))
  }
  try {
    for (const ability of engineAbilities(host)) taken.push(bus.register(ability))
    for (const ability of [modelList(host.models), modelRegister(host.models, offerModels)])
      taken.push(runBus.register(ability))
    for (const ability of memoryAbilities(host)) if (!bus.has(ability.id)) taken.push(bus.register(ability))
    if (host.models.isEmpty) return leave
    offerModels()
    return leave
  } catch (error) {
    leave()
    throw error
  }
}

function engineAbilities(host: AbilityHost): Ability[] {
  return [
    ...(host.embeddingModel === null ? [] : [modelEmbed(host.embeddingModel)]),
    ...hosted.map((ability) => ability(host)),
  ]
}

function memoryAbilities(host: AbilityHost): Ability[] {
  if (!host.memory.offered) return []
  const abilities = memory.map((ability) => ability(host))
  for (const ability of abilities) ours.add(ability)
  return abilities
}

/** Somebody else answers `model:llm`, or what else the engine would: not the engine, and not nobody. */
export function offersForeign(bus: Bus, abilityId: string): boolean {
  const ability = bus.get(abilityId)
  return ability !== undefined && !ours.has(ability)
}
