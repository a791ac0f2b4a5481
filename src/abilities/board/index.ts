// The abilities of boards and of the mail between their members. This list alone puts them on the bus and makes their types known.
import { boardCreate, boardDelete, boardOpen, boardUpdate } from './changes.ts'
import { boardClaim, boardClaimNext, boardComplete, boardHeartbeat, boardRelease } from './claims.ts'
import { boardGet, boardGraph, boardList, boardLog, boardReady, boardWhy } from './queries.ts'
import { boardInbox, boardRequest, boardRequests, boardRespond, boardSend, boardWait } from './team.ts'

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
