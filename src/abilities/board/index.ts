// The abilities of boards and of the mail between their members, one file each. This list alone puts them on the bus and makes their types known.
import { boardClaim } from './claim.ts'
import { boardClaimNext } from './claim-next.ts'
import { boardComplete } from './complete.ts'
import { boardCreate } from './create.ts'
import { boardDelete } from './delete.ts'
import { boardGet } from './get.ts'
import { boardGraph } from './graph.ts'
import { boardHeartbeat } from './heartbeat.ts'
import { boardInbox } from './inbox.ts'
import { boardList } from './list.ts'
import { boardLog } from './log.ts'
import { boardOpen } from './open.ts'
import { boardReady } from './ready.ts'
import { boardRelease } from './release.ts'
import { boardRequest } from './request.ts'
import { boardRequests } from './requests.ts'
import { boardRespond } from './respond.ts'
import { boardSend } from './send.ts'
import { boardUpdate } from './update.ts'
import { boardWait } from './wait.ts'
import { boardWhy } from './why.ts'

export const boardAbilities = [
  boardClaim,
  boardClaimNext,
  boardComplete,
  boardCreate,
  boardDelete,
  boardGet,
  boardGraph,
  boardHeartbeat,
  boardInbox,
  boardList,
  boardLog,
  boardOpen,
  boardReady,
  boardRelease,
  boardRequest,
  boardRequests,
  boardRespond,
  boardSend,
  boardUpdate,
  boardWait,
  boardWhy,
] as const
