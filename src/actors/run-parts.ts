// What a live run is made of. Its slot, its executor and the executor of an agent each see another side of it.
import type { TaskRecord } from '../entities/task.ts'
import type { AnyExecutor } from '../executor.ts'
import { RunCalls } from './run-calls.ts'
import { RunConversation } from './run-conversation.ts'
import { RunCore, type RunHost } from './run-core.ts'
import { RunMessages } from './run-messages.ts'
import { RunOutput } from './run-output.ts'
import { RunWaits } from './run-waits.ts'

export class RunParts {
  readonly core: RunCore
  readonly output: RunOutput
  readonly messages: RunMessages
  readonly conversation: RunConversation
  readonly waits: RunWaits
  readonly calls: RunCalls

  constructor(task: TaskRecord, executor: AnyExecutor, host: RunHost) {
    this.core = new RunCore(task, executor, host)
    this.output = new RunOutput(this.core)
    this.messages = new RunMessages(this.core)
    this.conversation = new RunConversation(this.core)
    this.waits = new RunWaits(this.core, this.output)
    this.calls = new RunCalls(this.core, this.output, this.waits)
  }
}
