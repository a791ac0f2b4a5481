// The operations of tasks, one file each. Their registration and their types derive from this list.

import { taskAnswer } from './answer.ts'
import { taskBatch } from './batch.ts'
import { taskBlock } from './block.ts'
import { taskCalls } from './calls.ts'
import { taskCancel } from './cancel.ts'
import { taskClaim } from './claim.ts'
import { taskCreate } from './create.ts'
import { taskDelete } from './delete.ts'
import { taskFail } from './fail.ts'
import { taskFork } from './fork.ts'
import { taskGet } from './get.ts'
import { taskGraph } from './graph.ts'
import { taskHeartbeat } from './heartbeat.ts'
import { taskList } from './list.ts'
import { taskMachine } from './machine.ts'
import { taskMessages } from './messages.ts'
import { taskNote } from './note.ts'
import { taskPause } from './pause.ts'
import { taskReceive } from './receive.ts'
import { taskRelease } from './release.ts'
import { taskResume } from './resume.ts'
import { taskRetry } from './retry.ts'
import { taskRuns } from './runs.ts'
import { taskSend } from './send.ts'
import { taskSignal } from './signal.ts'
import { taskStart } from './start.ts'
import { taskStream } from './stream.ts'
import { taskUnblock } from './unblock.ts'
import { taskUpdate } from './update.ts'
import { taskWait } from './wait.ts'
import { taskWhy } from './why.ts'

/** In the order in which lists for people show them. */
export const taskOperations = [
  taskCreate,
  taskList,
  taskGet,
  taskUpdate,
  taskDelete,
  taskWhy,
  taskMachine,
  taskRuns,
  taskCalls,
  taskMessages,
  taskNote,
  taskStream,
  taskWait,
  taskGraph,
  taskStart,
  taskPause,
  taskResume,
  taskCancel,
  taskRetry,
  taskFork,
  taskBatch,
  taskAnswer,
  taskSend,
  taskSignal,
  taskReceive,
  taskFail,
  taskClaim,
  taskHeartbeat,
  taskRelease,
  taskBlock,
  taskUnblock,
] as const
