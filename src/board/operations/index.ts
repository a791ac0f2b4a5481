// The operations of boards and of the mail between their members. Their registration and their types derive from this list.
import { boardCreate, boardDelete, boardOpen, boardUpdate } from './changes.ts'
import { boardClaim, boardClaimNext, boardComplete, boardHeartbeat, boardRelease } from './claims.ts'
import { boardGet, boardGraph, boardList, boardLog, boardReady, boardWhy } from './queries.ts'
import { boardInbox, boardRequest, boardRequests, boardRespond, boardSend, boardWait } from './team.ts'

export const boardOperations = [
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
