// Made by `npm run operations` from /openapi.json. Do not edit.

export type Role = "viewer" | "editor" | "admin" | "owner";
type none = undefined;

export interface Schemas {
  AcceptInvitation: { token: string; name?: string; password?: string };
  Account: { key: Schemas["AccountKey"]; workspace: Schemas["AccountWorkspace"] };
  AccountKey: { id: string; name: string; scopes: Array<string>; prefix: string; expiresAt: string | null };
  AccountResponse: { data: Schemas["Account"] };
  AccountRestriction: { event: string; restrictionInfo: unknown; violationInfo: unknown; banInfo: unknown };
  AccountWorkspace: { id: string; name: string; kybVerified: boolean };
  Action: { id: string; seq: number; at: string; actor: string; operation: string; objectId: string; objectType: string; address: string; sessionId: string | null; userAgent: string; path: Array<string>; changes: Array<Schemas["ActionChange"]>; requestId: string; hash: string; prevHash: string };
  ActionChange: { field: string; before?: unknown; after?: unknown };
  ActionPage: { data: Array<Schemas["Action"]>; nextCursor: string | null };
  AddedDocument: { source: string; added: number; replaced: boolean; chars: number };
  AddedDocumentResponse: { data: Schemas["AddedDocument"] };
  AddedNumbers: { added: number; alreadyListed: number; invalid: Array<string> };
  AddedNumbersResponse: { data: Schemas["AddedNumbers"] };
  AddedSource: { source: string; added: number; replaced: boolean; chars: number; warning?: string };
  AddedSourceResponse: { data: Schemas["AddedSource"] };
  Agent: { id: string; name: string; voice: string; language: Schemas["LanguageCode"]; status: Schemas["AgentStatus"]; channel: Schemas["AgentChannel"]; direction: Schemas["Direction"] };
  AgentCalls: { agentId: string | null; name: string | null; calls: number; connectRate: number; avgTalkSeconds: number; inbound: number; outbound: number; sentiment: Array<Schemas["SentimentCount"]> };
  AgentChange: { name?: string; systemPrompt?: string; voice?: string; language?: Schemas["LanguageCode"]; workflowTemplate?: Schemas["WorkflowTemplate"]; vertical?: Schemas["Vertical"]; policyRef?: string; communication?: Schemas["Communication"]; toolIds?: Array<string>; allowedTransferNumbers?: Array<string>; extractionSchema?: Array<Schemas["ExtractionInput"]>; speakable?: boolean; pronunciations?: Array<Schemas["Pronunciation"]>; callReason?: string; redact?: boolean; languages?: Array<Schemas["LanguageCode"]>; voices?: Record<string, string>; models?: Schemas["AgentModels"]; knowledgeBaseId?: string | null; channel?: Schemas["AgentChannel"]; direction?: Schemas["Direction"] };
  AgentChannel: "call" | "chat";
  AgentDetail: { id: string; name: string; voice: string; language: Schemas["LanguageCode"]; status: Schemas["AgentStatus"]; channel: Schemas["AgentChannel"]; direction: Schemas["Direction"]; systemPrompt: string; workflowTemplate: Schemas["WorkflowTemplate"]; vertical: Schemas["Vertical"]; policyRef: string; communication: Schemas["Communication"]; allowedTransferNumbers: Array<string>; extractionSchema: Array<Schemas["Extraction"]>; knowledgeBaseId: string | null; toolIds: Array<string>; speakable: boolean; pronunciations: Array<Schemas["Pronunciation"]>; callReason: string; redact: boolean; languages: Array<Schemas["LanguageCode"]>; voices: Record<string, string>; models: Schemas["AgentModels"] };
  AgentDetailResponse: { data: Schemas["AgentDetail"] };
  AgentEvaluation: { agentId: string; enabled: boolean; samplingRate: number; callSamplingRate: number; version: number; criteria: Array<Schemas["EvaluationCriterion"]>; updatedAt: string | null; updatedBy: string | null; costPerEvaluationMinor: number };
  AgentEvaluationResponse: { data: Schemas["AgentEvaluation"] };
  AgentList: { data: Array<Schemas["Agent"]> };
  AgentModels: { recogniser?: string; synthesiser?: string; languageModel?: string };
  AgentReaction: { agentId: string | null; name: string | null; answers: number; p50Ms: number | null; p95Ms: number | null };
  AgentStatus: "draft" | "active";
  AgentStatusChange: { status: Schemas["AgentStatus"] };
  AnalyzedChat: { chatId: string; channel: Schemas["ChatChannel"]; agentId: string; contactId: string | null; externalRef: string | null; customer: Schemas["ConversationCustomer"] | null; businessNumber: string | null; origin: Schemas["ChatOrigin"]; linkedCallId: string | null; status: Schemas["ConversationStatus"]; endCause: Schemas["ChatEndCause"] | null; startedAt: string; endedAt: string | null; messageCount: number; language: Schemas["LanguageCode"]; handoff: Schemas["Handoff"] | null; isTest: boolean; metadata: Record<string, unknown>; adReferral: unknown; analysis: Schemas["ChatAnalysis"]; transcript?: Array<Schemas["TranscriptLine"]> };
  AnsweredBy: "person" | "voicemail" | "screener" | "announcement";
  ApplyStagedList: { expectedRows: number };
  AssignedChat: { chatId: string; channel: Schemas["ChatChannel"]; agentId: string; contactId: string | null; externalRef: string | null; customer: Schemas["ConversationCustomer"] | null; businessNumber: string | null; origin: Schemas["ChatOrigin"]; linkedCallId: string | null; status: Schemas["ConversationStatus"]; endCause: Schemas["ChatEndCause"] | null; startedAt: string; endedAt: string | null; messageCount: number; language: Schemas["LanguageCode"]; handoff: Schemas["Handoff"] | null; isTest: boolean; metadata: Record<string, unknown>; adReferral: unknown; assignedTo: Schemas["Teammate"]; assignedBy: Schemas["Assigner"] | null; reason: string; transcript?: Array<Schemas["TranscriptLine"]> };
  AssignedConversation: { id: string; assignedTo: string };
  AssignedConversationResponse: { data: Schemas["AssignedConversation"] };
  Assignee: { userId: string; name: string; email: string };
  AssigneeList: { data: Array<Schemas["Assignee"]> };
  Assigner: Schemas["Teammate"] | { apiKeyId: string };
  AttachedStream: { streamId: string; name: string; kind: Schemas["DataStreamKind"]; status: Schemas["DataStreamStatus"]; variableMapping: Record<string, unknown>; backfillDays: number; transliterate: boolean; attachedAt: string };
  AttachedStreamList: { data: Array<Schemas["AttachedStream"]> };
  AttentionAction: "answer" | "verify" | "top_up" | "reconnect" | "look_at_deliveries" | "resume" | "activate" | "review" | "edit";
  AttentionItem: { kind: Schemas["AttentionKind"]; since: string | null; count: number; subject: Schemas["AttentionSubject"]; cause: string | null; action: Schemas["AttentionAction"] };
  AttentionItemList: { data: Array<Schemas["AttentionItem"]> };
  AttentionKind: "log_broken" | "wallet_exhausted" | "chats_waiting" | "integration_broken" | "number_disconnected" | "webhook_failing" | "campaign_paused" | "stream_stopped" | "cards_to_review" | "template_rejected" | "wallet_low";
  AttentionSubject: { type: string; id: string | null; name: string | null };
  BlockedAgent: { agentId: string | null; name: string | null; count: number; byRule: Record<string, number> };
  BlockedDay: { day: string; count: number; byRule: Record<string, number> };
  BlockedStats: { total: number; byRule: Record<string, number>; byDay: Array<Schemas["BlockedDay"]>; byAgent: Array<Schemas["BlockedAgent"]>; disclosures: Schemas["DisclosureStats"] };
  BlockedStatsResponse: { data: Schemas["BlockedStats"] };
  Board: { boardId: string; columns: Array<Schemas["BoardColumn"]> };
  BoardCardMovedEvent: { id: string; type: "board.card_moved"; createdAt: string; livemode: boolean; data: Schemas["MovedCard"] };
  BoardColumn: { id: string; name: string; key: string; type: Schemas["ColumnType"]; color: Schemas["ColumnColor"] | null; count: number };
  BoardResponse: { data: Schemas["Board"] };
  ButtonParam: { index: number; text?: string; payload?: string; code?: string };
  Call: { id: string; contactId: string | null; campaignId: string | null; agentId: string | null; channel: "voice"; direction: Schemas["Direction"]; status: Schemas["CallStatus"]; state: Schemas["CallState"]; outcome: string | null; toNumber: string; fromNumber: string; answered: boolean; answeredAt: string | null; answeredBy: Schemas["AnsweredBy"] | null; endCause: string | null; startedAt: string; endedAt: string | null; durationSeconds: number | null; metadata: Record<string, unknown>; flowVersion: number | null; contactName: string | null; agentName: string | null; chargedMinor: number | null };
  CallAnalytics: { totals: Schemas["CallTotals"]; byOutcome: Record<string, number>; byEndCause: Record<string, number>; perDay: Array<Schemas["CallDay"]>; agents: Array<Schemas["AgentCalls"]>; byLanguage: Array<Schemas["LanguageCount"]>; sentiment: Array<Schemas["SentimentCount"]>; reaction: Schemas["Reactions"]; costs: Schemas["CallCosts"]; hours?: Array<Schemas["CallHour"]>; weekdayHours?: Array<Schemas["CallWeekdayHour"]>; usualWeekday?: Schemas["UsualWeekday"] };
  CallAnalyticsResponse: { data: Schemas["CallAnalytics"] };
  CallCompletedEvent: { id: string; type: "call.completed"; createdAt: string; livemode: boolean; data: Schemas["CallData"] };
  CallCosts: { chargedMinor: number; byOutcome: Array<Schemas["OutcomeCost"]> };
  CallCounts: { total: number; state: Array<Schemas["CallFacet"]>; direction: Array<Schemas["CallFacet"]>; outcome: Array<Schemas["CallFacet"]>; endCause: Array<Schemas["CallFacet"]>; agent: Array<Schemas["CallFacet"]>; campaign: Array<Schemas["CallFacet"]>; days: Array<Schemas["CallsOfDay"]> };
  CallCountsResponse: { data: Schemas["CallCounts"] };
  CallData: { callId: string; agentId: string | null; campaignId: string | null; contactId: string | null; externalRef: string | null; direction: Schemas["Direction"]; toNumber: string; fromNumber: string; answeredAt: string | null; answeredBy: Schemas["AnsweredBy"] | null; endedAt: string | null; durationSeconds: number | null; endCause: string | null; outcome: string | null; language: Schemas["LanguageCode"] | null; metadata: Record<string, unknown> };
  CallDay: { day: string; calls: number; answered: number; talkSeconds: number };
  CallDecision: "hold" | "dial" | "ring" | "talk" | "finish";
  CallDetail: { id: string; contactId: string | null; campaignId: string | null; agentId: string | null; channel: "voice"; direction: Schemas["Direction"]; status: Schemas["CallStatus"]; state: Schemas["CallState"]; outcome: string | null; toNumber: string; fromNumber: string; answered: boolean; answeredAt: string | null; answeredBy: Schemas["AnsweredBy"] | null; endCause: string | null; startedAt: string; endedAt: string | null; durationSeconds: number | null; metadata: Record<string, unknown>; flowVersion: number | null; contactName: string | null; agentName: string | null; chargedMinor: number | null; carrier: string | null; summary: string | null; transcript: Array<Schemas["CallTurn"]>; extracted: Record<string, unknown>; recordingUrl: string | null; fullTranscript: Schemas["FullTranscript"]; connectorPushes: Array<Schemas["ConnectorPush"]>; latency: Array<Schemas["CallLatency"]>; evaluations: Array<Schemas["Evaluation"]>; disclosure: Schemas["CallDisclosure"] | null };
  CallDetailResponse: { data: Schemas["CallDetail"] };
  CallDisclosure: { result: Schemas["DisclosureWord"]; language: string | null; withinSeconds: number; pack: string };
  CallFacet: { value: string; name: string | null; count: number };
  CallFailedEvent: { id: string; type: "call.failed"; createdAt: string; livemode: boolean; data: Schemas["FailedCall"] };
  CallFlag: "asks_for_person" | "asked_not_to_be_called" | "slow_reaction" | "silent";
  CallHour: { hour: number; calls: number; answered: number; chargedMinor: number };
  CallLatency: { turn: number; endpointMs: number; transcriptMs: number | null; firstTokenMs: number | null; firstAudioMs: number | null; firstPacketMs: number | null };
  CallPage: { data: Array<Schemas["Call"]>; nextCursor: string | null };
  CallStartedEvent: { id: string; type: "call.started"; createdAt: string; livemode: boolean; data: Schemas["CallData"] };
  CallState: "ringing" | "in_progress" | "ended" | "blocked";
  CallStatus: "queued" | "ringing" | "in_progress" | "completed" | "no_answer" | "busy" | "cancelled" | "failed" | "blocked";
  CallTimelineEntry: { at: string; event: string; checks: Array<Record<string, unknown>>; decision: Schemas["CallDecision"]; status: string; reason: string | null; until: string | null; callId: string | null; times: number; lastAt: string };
  CallTimelineEntryList: { data: Array<Schemas["CallTimelineEntry"]> };
  CallTotals: { calls: number; answered: number; connectRate: number; peopleReached: number; contactsTargeted: number; talkSecondsTotal: number; avgTalkSeconds: number; talkSecondsP50: number; talkSecondsP90: number; peakConcurrency: number; blockedCalls: number; declinedCalls: number };
  CallTransferredEvent: { id: string; type: "call.transferred"; createdAt: string; livemode: boolean; data: Schemas["TransferredCall"] };
  CallTurn: { role: Schemas["Speaker"]; text: string; language?: Schemas["LanguageCode"] };
  CallWeekdayHour: { weekday: number; hour: number; calls: number; answered: number; chargedMinor: number };
  CallingList: { total: number; valid: number; invalid: number };
  CallingListCounts: { all: number; reached: number; in_progress: number; unreached: number; held: number; queued: number; invalid: number; dnc: number };
  CallingListPage: { data: Array<Schemas["CallingListRow"]>; counts: Schemas["CallingListCounts"]; total: number; nextOffset: number | null };
  CallingListResponse: { data: Schemas["CallingList"] };
  CallingListRow: { id: string; contactId: string | null; phone: string | null; name: string | null; variables: Record<string, string>; state: Schemas["CallingListState"]; dialStatus: string | null; attempts: number; lastAttemptAt: string | null; heldReason: Schemas["HeldReason"] | null; failureReason: Schemas["RowFailure"] | null; valid: boolean; invalidReason: Schemas["InvalidReason"] | null; doNotCall: boolean; boardColumn: string | null; nextAttemptAt: string | null; lastCallId: string | null };
  CallingListState: "queued" | "held" | "in_progress" | "reached" | "unreached" | "invalid";
  CallsOfDay: { day: string; count: number };
  Campaign: { id: string; name: string; channel: string; workflowType: Schemas["CampaignWorkflowType"]; dltTemplateRef: string | null; agentId: string | null; status: Schemas["CampaignStatus"]; settings: Schemas["CampaignSettings"]; callingList: Schemas["CallingList"] | null; chatapp?: Schemas["CampaignChatapp"]; livemode?: boolean; createdAt: string; updatedAt: string };
  CampaignCallerId: { number: string; dailyCap: number };
  CampaignChange: { name?: string; agentId?: string | null; chatapp?: Schemas["CampaignChatappSettings"]; dltTemplateRef?: string | null; settings?: Schemas["CampaignSettingsChange"] };
  CampaignChatapp: { templateId: string; paramMapping: Record<string, Schemas["CampaignParam"]>; optInPolicy: Schemas["ChannelOptInPolicy"]; phoneNumberId: string | null; ratePerMinute: number; pausedReason: Schemas["ChannelCampaignPause"] | null; launchedAt: string | null; finishedAt: string | null; stats?: Schemas["CampaignChatappStats"]; report?: Schemas["ChatappPreflight"] };
  CampaignChatappSettings: { templateId?: string; paramMapping?: Record<string, Schemas["CampaignParamInput"]>; phoneNumberId?: string | null; ratePerMinute?: number; optInPolicy?: Schemas["ChannelOptInPolicy"] };
  CampaignChatappStats: { total: number; pending: number; sent: number; delivered: number; read: number; replied: number; failed: number; frequencyCapped: number; skipped: number; deliveryUnknown: number; skippedByReason: Record<string, number>; failedByCode: Record<string, number>; converted: number; optedOutAfter: number };
  CampaignFinishedEvent: { id: string; type: "campaign.finished"; createdAt: string; livemode: boolean; data: Schemas["FinishedCampaign"] };
  CampaignFunnel: { contacted: number; advancing: number; won: number; lost: number };
  CampaignLifecycle: { createdAt: string; startedAt: string | null; lastCallAt: string | null; completedAt: string | null };
  CampaignList: { data: Array<Schemas["Campaign"]> };
  CampaignParam: { source: Schemas["ChannelParamSource"]; value: string };
  CampaignParamInput: { source: Schemas["ChannelParamSource"]; value: string };
  CampaignPreflight: Schemas["Preflight"] | Schemas["ChatappPreflight"];
  CampaignPreflightResponse: { data: Schemas["CampaignPreflight"] };
  CampaignProgress: { total: number; reached: number; inProgress: number; unreached: number; held: number; queued: number; invalid: number; retryable: number; blocked: number };
  CampaignResponse: { data: Schemas["Campaign"] };
  CampaignRun: { id: string; campaignId: string; status: Schemas["CampaignRunStatus"]; source: Schemas["CampaignRunSource"]; attempted: number; placed: number; rejected: number; skippedReason: string | null; error: string | null; createdAt: string; finishedAt: string | null };
  CampaignRunList: { data: Array<Schemas["CampaignRun"]> };
  CampaignRunResponse: { data: Schemas["CampaignRun"] };
  CampaignRunSource: "manual" | "api" | "schedule";
  CampaignRunStarted: { runId: string; status: Schemas["CampaignRunStatus"] };
  CampaignRunStartedResponse: { data: Schemas["CampaignRunStarted"] };
  CampaignRunStatus: "queued" | "running" | "completed" | "skipped" | "failed";
  CampaignSettings: { fromNumber: string | null; timezone: string | null; startAt: string | null; endAt: string | null; dailyFrom: string | null; dailyTo: string | null; retryCount: number; cooldownMinutes: number; emailNotifications: Array<string>; callerIds: Array<Schemas["CampaignCallerId"]>; maxConcurrentCalls: number | null };
  CampaignSettingsChange: { fromNumber?: string | null; timezone?: string | null; startAt?: string | null; endAt?: string | null; dailyFrom?: string | null; dailyTo?: string | null; retryCount?: number; cooldownMinutes?: number; emailNotifications?: Array<string>; callerIds?: Array<Schemas["CampaignCallerId"]>; maxConcurrentCalls?: number | null };
  CampaignStatus: "draft" | "active" | "paused" | "completed" | "archived";
  CampaignStatusChange: { status: Schemas["CampaignStatus"]; acknowledgeQuality?: boolean; acknowledgeRecategorisation?: boolean };
  CampaignSummary: { progress: Schemas["CampaignProgress"]; heldByReason: Record<string, number>; funnel: Schemas["CampaignFunnel"]; winMetric: Schemas["CampaignWinMetric"]; connectRate: number | null; avgCallSeconds: number | null; spentMinor: number; costPerOutcomeMinor: number | null; lifecycle: Schemas["CampaignLifecycle"] };
  CampaignSummaryResponse: { data: Schemas["CampaignSummary"] };
  CampaignWinMetric: { label: string; count: number };
  CampaignWorkflowType: "collections" | "onboarding";
  CancelledNudges: { cancelled: number; ids: Array<string> };
  CancelledNudgesResponse: { data: Schemas["CancelledNudges"] };
  Card: { id: string; contactId: string; contactName: string | null; contactPhone: string | null; columnId: string; status: Schemas["CardStatus"]; confidence: number | null; suggestedColumnId: string | null; lastCallId: string | null; lastCallAt: string | null; lastSummary: string | null; attentionReason: Schemas["CardAttention"] | null; enteredColumnAt: string; lastMoveId: string | null; undoUntil?: string };
  CardAttention: "low_confidence" | "automation_failed";
  CardMove: { columnId: string };
  CardMoved: { moveId: string; from: Schemas["CardMovedColumn"] | null; to: Schemas["CardMovedColumn"]; movedBy: Schemas["MovedBy"]; actor: string | null; confidence: number | null; callId: string | null; movedAt: string; undoneAt: string | null };
  CardMovedColumn: { id: string; name: string };
  CardMovedPage: { data: Array<Schemas["CardMoved"]>; nextCursor: string | null };
  CardPage: { data: Array<Schemas["Card"]>; nextCursor: string | null };
  CardResponse: { data: Schemas["Card"] };
  CardStatus: "placed" | "needs_review";
  ChainVerification: { name: Schemas["LogChain"]; verified: boolean; records: number; brokenAt: number | null; problem: string | null };
  ChangeKind: "start_changed" | "step_added" | "step_removed" | "step_changed" | "edge_added" | "edge_removed" | "variable_added" | "variable_removed" | "variable_changed" | "graph_changed";
  ChannelCampaignPause: "spam_rate_limited" | "template_unavailable" | "template_recategorised" | "quality_red" | "high_failure_rate" | "account_restricted" | "token_invalid" | "not_connected" | "payment_issue" | "permission_denied" | "number_not_registered";
  ChannelConsent: { messagesAllowed: boolean; stoppedAt: string | null; stopSource: string | null; marketingStoppedAt: string | null; optedInAt: string | null; optInSource: string | null };
  ChannelMessage: { messageId: string; providerMessageId: string | null; chatId: string | null; threadId: string; agentId: string | null; contactId: string; externalRef: string | null; direction: Schemas["MessageDirection"]; source: Schemas["MessageSource"]; type: string; text: string | null; template: Schemas["MessageTemplate"] | null; media: Schemas["MessageMedia"] | null; from: string | null; to: string | null; customerUserId: string | null; customerUsername: string | null; phoneNumberId: string; status: Schemas["MessageStatus"]; timestamp: string; statuses: Schemas["MessageStatuses"]; error: Schemas["MessageError"] | null; replyTo: string | null; reaction: Record<string, unknown> | null; interactive: Record<string, unknown> | null; location: Record<string, unknown> | null; content: Record<string, unknown> | null };
  ChannelMessagePage: { data: Array<Schemas["ChannelMessage"]>; nextCursor: string | null };
  ChannelMessageResponse: { data: Schemas["ChannelMessage"] };
  ChannelNotification: { object?: string };
  ChannelNumber: { phoneNumberId: string; number: string; displayName: string; quality: string | null; messagingTier: string | null; status: string; isDefault: boolean; agentId: string | null };
  ChannelNumberList: { data: Array<Schemas["ChannelNumber"]> };
  ChannelOptInPolicy: "require" | "skip_check";
  ChannelParamSource: "column" | "contact" | "static";
  ChannelTemplate: { id: string; name: string; language: string; category: Schemas["TemplateCategory"]; pendingCategory: Schemas["TemplateCategory"] | null; status: Schemas["TemplateStatus"]; components: Array<Schemas["TemplateComponent"]>; qualityScore: string | null; rejectedReason: string | null; createdAt: string; updatedAt: string };
  ChannelTemplateChange: { components?: Array<Schemas["TemplateComponent"]>; category?: Schemas["TemplateCategory"] };
  ChannelTemplatePage: { data: Array<Schemas["ChannelTemplate"]>; nextCursor: string | null };
  ChannelTemplateResponse: { data: Schemas["ChannelTemplate"] };
  ChatAnalysis: { summary: string | null; extracted: Record<string, unknown> | null; sentiment: string | null; outcome: string | null };
  ChatAnalyzedEvent: { id: string; type: "chat.analyzed"; createdAt: string; livemode: boolean; data: Schemas["AnalyzedChat"] };
  ChatAssignedEvent: { id: string; type: "chat.assigned"; createdAt: string; livemode: boolean; data: Schemas["AssignedChat"] };
  ChatChannel: "api" | "web" | "chatapp";
  ChatCompletedEvent: { id: string; type: "chat.completed"; createdAt: string; livemode: boolean; data: Schemas["ChatWithTranscript"] };
  ChatData: { chatId: string; channel: Schemas["ChatChannel"]; agentId: string; contactId: string | null; externalRef: string | null; customer: Schemas["ConversationCustomer"] | null; businessNumber: string | null; origin: Schemas["ChatOrigin"]; linkedCallId: string | null; status: Schemas["ConversationStatus"]; endCause: Schemas["ChatEndCause"] | null; startedAt: string; endedAt: string | null; messageCount: number; language: Schemas["LanguageCode"]; handoff: Schemas["Handoff"] | null; isTest: boolean; metadata: Record<string, unknown>; adReferral: unknown };
  ChatEndCause: "completed" | "idle_timeout" | "max_duration" | "agent_ended" | "human_ended" | "opted_out" | "no_reply" | "erased" | "abandoned" | "template_failed" | "ai_unavailable";
  ChatEvaluatedEvent: { id: string; type: "chat.evaluated"; createdAt: string; livemode: boolean; data: Schemas["EvaluatedChat"] };
  ChatHandedBackEvent: { id: string; type: "chat.handed_back"; createdAt: string; livemode: boolean; data: Schemas["HandedBackChat"] };
  ChatHandoffRequestedEvent: { id: string; type: "chat.handoff_requested"; createdAt: string; livemode: boolean; data: Schemas["HandoffRequest"] };
  ChatLabel: { id: string; name: string; color: string };
  ChatMessage: { role: Schemas["ChatRole"]; text: string; failed?: boolean; language?: Schemas["LanguageCode"] };
  ChatNote: { id: string; author: Schemas["Teammate"]; text: string; mentions: Array<Schemas["Teammate"]>; createdAt: string };
  ChatNotePage: { data: Array<Schemas["ChatNote"]>; nextCursor: string | null };
  ChatNoteResponse: { data: Schemas["ChatNote"] };
  ChatOrigin: "inbound" | "template_start" | "call_followup" | "campaign" | "ai_unavailable";
  ChatReply: { reply: string | null; ended: boolean; handedOff: boolean };
  ChatReplyResponse: { data: Schemas["ChatReply"] };
  ChatRole: "user" | "agent" | "human";
  ChatSession: { id: string; agentId: string; state: Schemas["ChatState"]; messageCount: number; createdAt: string; endedAt: string | null; flowVersion: number | null; messages: Array<Schemas["ChatMessage"]> };
  ChatSessionResponse: { data: Schemas["ChatSession"] };
  ChatStartedEvent: { id: string; type: "chat.started"; createdAt: string; livemode: boolean; data: Schemas["ChatData"] };
  ChatState: "ai" | "awaiting_human" | "human" | "ended";
  ChatTakenOverEvent: { id: string; type: "chat.taken_over"; createdAt: string; livemode: boolean; data: Schemas["TakenOverChat"] };
  ChatWithTranscript: { chatId: string; channel: Schemas["ChatChannel"]; agentId: string; contactId: string | null; externalRef: string | null; customer: Schemas["ConversationCustomer"] | null; businessNumber: string | null; origin: Schemas["ChatOrigin"]; linkedCallId: string | null; status: Schemas["ConversationStatus"]; endCause: Schemas["ChatEndCause"] | null; startedAt: string; endedAt: string | null; messageCount: number; language: Schemas["LanguageCode"]; handoff: Schemas["Handoff"] | null; isTest: boolean; metadata: Record<string, unknown>; adReferral: unknown; transcript?: Array<Schemas["TranscriptLine"]> };
  ChatappAccountRestrictedEvent: { id: string; type: "chatapp.account_restricted"; createdAt: string; livemode: boolean; data: Schemas["AccountRestriction"] };
  ChatappCharges: { currency: string; category: Schemas["TemplateCategory"]; perMessage: string; total: string };
  ChatappNumberAiPausedEvent: { id: string; type: "chatapp.number_ai_paused"; createdAt: string; livemode: boolean; data: Schemas["NumberPause"] };
  ChatappNumberQualityChangedEvent: { id: string; type: "chatapp.number_quality_changed"; createdAt: string; livemode: boolean; data: Schemas["NumberQuality"] };
  ChatappPreflight: { passes: boolean; blockers: Array<Schemas["ChatappProblem"]>; warnings: Array<Schemas["ChatappProblem"]>; total: number; willReceive: number; willNotReceive: number; byReason: Record<string, number>; messagingTier: string | null; tierLimit: number | null; tierRoom: number | null; daysNeeded: number; sendingMinutes: number; startsAt: string | null; finishesAt: string | null; estimatedCharges: Schemas["ChatappCharges"] | null };
  ChatappProblem: { code: string; message: string };
  ChatappTemplateUpdatedEvent: { id: string; type: "chatapp.template.updated"; createdAt: string; livemode: boolean; data: Schemas["UpdatedTemplate"] };
  ColumnColor: "grey" | "blue" | "green" | "amber" | "red" | "plum" | "teal" | "indigo";
  ColumnType: "new" | "open" | "advancing" | "won" | "lost" | "dnc" | "no_contact";
  Communication: "transactional" | "service" | "promotional";
  ConnectorPush: { provider: string; status: Schemas["ConnectorPushStatus"]; error: string | null; createdAt: string };
  ConnectorPushStatus: "success" | "failed" | "skipped";
  Consent: { id: string; source: string; capturedAt: string; reference: string | null; recordedAt: string };
  ConsentSource: "web_form" | "app" | "call" | "sms" | "email" | "chatapp" | "paper" | "branch" | "import" | "other";
  ConsoleSession: { id: string; current: boolean; createdAt: string; lastSeenAt: string; expiresAt: string; address: string; userAgent: string };
  ConsoleSessionList: { data: Array<Schemas["ConsoleSession"]> };
  Contact: { id: string; externalRef: string | null; phone: string | null; dnd: boolean; optOut: boolean; preferredLanguage: string; lastContactAt: string | null; attributes: Record<string, unknown>; name: string | null; email: string | null; company: string | null; chatappUserId: string | null; chatappUsername: string | null; timezone: string };
  ContactBatch: { contacts: Array<unknown> };
  ContactBatchItem: { status: number; externalRef: string | null; data?: Schemas["Contact"]; error?: string; code?: string; existingId?: string };
  ContactBatchResult: { succeeded: number; failed: number; results: Array<Schemas["ContactBatchItem"]> };
  ContactBatchResultResponse: { data: Schemas["ContactBatchResult"] };
  ContactChange: { externalRef?: string; phone?: string; preferredLanguage?: Schemas["ContactLanguage"]; timezone?: string; attributes?: Record<string, unknown>; optOut?: boolean; name?: string | null; email?: string | null; company?: string | null; consent?: Schemas["NewConsent"] };
  ContactDetail: { id: string; externalRef: string | null; phone: string | null; dnd: boolean; optOut: boolean; preferredLanguage: string; lastContactAt: string | null; attributes: Record<string, unknown>; name: string | null; email: string | null; company: string | null; chatappUserId: string | null; chatappUsername: string | null; timezone: string; doNotCall: boolean; consent: Schemas["Consent"] | null; chatapp: Schemas["ChannelConsent"] };
  ContactDetailResponse: { data: Schemas["ContactDetail"] };
  ContactLanguage: "en" | "hi";
  ContactOptedOutEvent: { id: string; type: "contact.opted_out"; createdAt: string; livemode: boolean; data: Schemas["OptedOutContact"] };
  ContactPage: { data: Array<Schemas["Contact"]>; nextCursor: string | null };
  ContactResponse: { data: Schemas["Contact"] };
  Conversation: { id: string; agentId: string; contactId: string; externalRef: string | null; customer: Schemas["ConversationCustomer"]; business: Schemas["ConversationBusiness"]; status: Schemas["ConversationStatus"]; endCause: Schemas["ChatEndCause"] | null; origin: Schemas["ChatOrigin"]; messageCount: number; isTest: boolean; startedAt: string; endedAt: string | null; outcome: Schemas["ConversationOutcome"]; labels: Array<Schemas["ChatLabel"]>; assignedTo: string | null; adReferral: Record<string, unknown> | null; metadata: Record<string, unknown>; messages?: Array<Schemas["ConversationMessage"]>; analysis?: Schemas["ConversationAnalysis"] | null };
  ConversationAnalysis: { summary: string | null; extracted: Record<string, unknown> | null; disposition: string | null };
  ConversationAssignment: { userId?: string; email?: string };
  ConversationBusiness: { phone: string; phoneNumberId: string };
  ConversationButtonParam: { index: number; text?: string; payload?: string; code?: string };
  ConversationContact: { name?: string; externalRef?: string };
  ConversationCustomer: { phone: string | null; name: string | null; userId: string | null; username: string | null };
  ConversationHandback: { messages?: Array<Schemas["TeamMessage"]>; note?: string };
  ConversationHeaderParam: { type: "text" | "image" | "video" | "document"; text?: string; url?: string; filename?: string };
  ConversationMessage: { role: Schemas["ChatRole"]; text: string; agentName: string | null; timestamp: string; failed?: boolean };
  ConversationOptIn: { source: string; capturedAt: string };
  ConversationOutcome: { disposition: string | null; boardColumn: string | null };
  ConversationPage: { data: Array<Schemas["Conversation"]>; nextCursor: string | null };
  ConversationResponse: { data: Schemas["Conversation"] };
  ConversationStatus: "active" | "ended";
  ConversationTakeover: { agentName?: string; note?: string };
  ConversationTemplateParams: { body?: Array<string> | Record<string, string>; header?: Schemas["ConversationHeaderParam"]; buttons?: Array<Schemas["ConversationButtonParam"]>; components?: Array<Schemas["TemplateComponent"]> };
  ConversationTemplateUse: { id?: string; name?: string; language?: string; params?: Schemas["ConversationTemplateParams"] };
  CountedDoNotCallEntryList: { data: Array<Schemas["DoNotCallEntry"]>; total: number };
  CountedWalletTransactionList: { data: Array<Schemas["WalletTransaction"]>; total: number };
  CreatedDataStream: { id: string; name: string; kind: Schemas["DataStreamKind"]; fieldMap: Schemas["FieldMap"]; config: Record<string, unknown>; integrationId: string | null; status: Schemas["DataStreamStatus"]; lastError: string | null; ingestUrl: string | null; createdAt: string; updatedAt: string; token?: string };
  CreatedDataStreamResponse: { data: Schemas["CreatedDataStream"] };
  CreatedWebhookEndpoint: { id: string; url: string; events: Array<Schemas["EventType"]>; agentIds: Array<string>; description: string | null; status: Schemas["WebhookStatus"]; createdAt: string; updatedAt: string; secret: string };
  CreatedWebhookEndpointResponse: { data: Schemas["CreatedWebhookEndpoint"] };
  CriterionAgreement: { criterionKey: string; name: string | null; n: number; agreed: number; kappa: number | null };
  CriterionKind: "pass_fail" | "score";
  CriterionResult: { criterionKey: string; name: string; kind: Schemas["CriterionKind"]; passThreshold: number | null; verdict: Schemas["EvaluationVerdict"]; score: number | null; reasoning: string };
  CriterionShares: { criterionKey: string; name: string | null; passed: number; failed: number; notApplicable: number; passRate: number | null; meanScore: number | null };
  DataStream: { id: string; name: string; kind: Schemas["DataStreamKind"]; fieldMap: Schemas["FieldMap"]; config: Record<string, unknown>; integrationId: string | null; status: Schemas["DataStreamStatus"]; lastError: string | null; ingestUrl: string | null; createdAt: string; updatedAt: string };
  DataStreamChange: { name?: string; fieldMap?: Schemas["FieldMapChange"]; config?: Record<string, unknown>; integrationId?: string; status?: Schemas["WantedStatus"] };
  DataStreamDetail: { id: string; name: string; kind: Schemas["DataStreamKind"]; fieldMap: Schemas["FieldMap"]; config: Record<string, unknown>; integrationId: string | null; status: Schemas["DataStreamStatus"]; lastError: string | null; ingestUrl: string | null; createdAt: string; updatedAt: string; campaigns: Array<Schemas["FedCampaign"]> };
  DataStreamDetailResponse: { data: Schemas["DataStreamDetail"] };
  DataStreamKind: "webhook" | "api" | "spreadsheet" | "crm_1" | "crm_2" | "crm_3" | "storefront";
  DataStreamList: { data: Array<Schemas["DataStream"]> };
  DataStreamStatus: "active" | "paused" | "error";
  DataStreamToken: { id: string; token: string; ingestUrl: string };
  DataStreamTokenResponse: { data: Schemas["DataStreamToken"] };
  Deleted: { id: string; deleted: boolean };
  DeletedResponse: { data: Schemas["Deleted"] };
  Delivery: { id: string; eventId: string; event: Schemas["EventType"]; status: Schemas["DeliveryStatus"]; attempts: Array<Schemas["DeliveryAttempt"]>; nextAttemptAt: string | null; createdAt: string; deliveredAt: string | null; payload: Schemas["Event"] | null };
  DeliveryAttempt: { at: string; status: number | null; durationMs: number; error: string | null };
  DeliveryPage: { data: Array<Schemas["Delivery"]>; nextCursor: string | null };
  DeliveryResponse: { data: Schemas["Delivery"] };
  DeliveryStatus: "pending" | "succeeded" | "failed";
  Direction: "outbound" | "inbound";
  DisclosureStats: { kept: number; missed: number };
  DisclosureWord: "kept" | "missed";
  DoNotCallEntry: { phone: string | null; reason: string; createdAt: string };
  DocumentFileType: "application/pdf" | "image/jpeg" | "image/png" | "image/webp";
  DocumentPart: { part: string; contentType: Schemas["DocumentFileType"] };
  DocumentReceivedEvent: { id: string; type: "document.received"; createdAt: string; livemode: boolean; data: Schemas["ReceivedDocument"] };
  DocumentStatus: "open" | "verified" | "unverified" | "failed" | "rejected";
  DocumentUpdatedEvent: { id: string; type: "document.updated"; createdAt: string; livemode: boolean; data: Schemas["ReceivedDocument"] };
  EdgeVisitCount: { from: string | null; edge: string; to: string | null; visits: number };
  EndedAttempt: { id: string; agentId: string; status: Schemas["NudgeStatus"]; result: Schemas["NudgeResult"] | null; statusReason: string | null; blockReason: string | null; toNumber: string; fromNumber: string | null; externalRef: string | null; variables: Record<string, string>; metadata: Record<string, unknown>; outsideWindow: Schemas["OutsideWindow"]; scheduledAt: string | null; nextAttemptAt: string | null; expiresAt: string; retry: Schemas["NudgeRetry"]; attempts: number; callId: string | null; livemode: boolean; createdAt: string; finishedAt: string | null; attempt?: Schemas["NudgeAttempt"] };
  EndedConversation: { id: string; agentId: string; contactId: string; externalRef: string | null; customer: Schemas["ConversationCustomer"]; business: Schemas["ConversationBusiness"]; status: Schemas["ConversationStatus"]; endCause: Schemas["ChatEndCause"] | null; origin: Schemas["ChatOrigin"]; messageCount: number; isTest: boolean; startedAt: string; endedAt: string | null; outcome: Schemas["ConversationOutcome"]; labels: Array<Schemas["ChatLabel"]>; assignedTo: string | null; adReferral: Record<string, unknown> | null; metadata: Record<string, unknown>; messages?: Array<Schemas["ConversationMessage"]>; analysis?: Schemas["ConversationAnalysis"] | null; livemode: boolean };
  EndedConversationResponse: { data: Schemas["EndedConversation"] };
  EndingCall: { id: string; state: "ending" };
  EndingCallResponse: { data: Schemas["EndingCall"] };
  EntityClass: "undeclared" | "unregulated" | "bank" | "payments_bank" | "small_finance_bank" | "cooperative_bank" | "regional_rural_bank" | "large_nbfc" | "nbfc" | "asset_manager" | "pension_manager" | "insurer" | "stock_broker";
  Erased: { calls: number; transcripts: number; recordings: number; messages: number; nudgesCancelled: number; deliveriesRedacted: number };
  Erasure: { contactId: string; erasedAt: string; erased: Schemas["Erased"]; alreadyErased: boolean };
  ErasureResponse: { data: Schemas["Erasure"] };
  Error: { error: string; code: Schemas["ErrorCode"]; docUrl: string; meta?: Record<string, unknown>; requestId?: string };
  ErrorCode: "active_session_exists" | "agent_in_use" | "agent_locked" | "agent_not_active" | "agent_not_call" | "agent_not_chatapp" | "agent_not_found" | "agent_not_inbound" | "agent_not_outbound" | "agent_not_published" | "agent_number_mismatch" | "agent_number_missing" | "agent_offline" | "agent_unavailable" | "agent_uses_flow" | "api_scope_missing" | "assignee_not_allowed" | "brain_unavailable" | "call_blocked" | "call_not_active" | "call_not_placed" | "campaign_launched" | "campaign_limit" | "channel_not_supported" | "chat_not_enabled" | "chatapp_agents_off" | "chatapp_campaign" | "chatapp_config_unexpected" | "chatapp_disabled" | "chatapp_not_connected" | "column_not_on_board" | "compliance_pack_invalid" | "concurrency_limit" | "conflict" | "contact_erased" | "contact_has_history" | "contact_opted_out" | "conversation_ended" | "cross_site" | "delivery_failed" | "delivery_redacted" | "dlt_required" | "document_not_requested" | "document_too_large" | "document_unreadable" | "document_unsupported" | "endpoint_limit" | "feature_disabled" | "flow_conflict" | "flow_not_ready" | "from_number_not_owned" | "hangup_failed" | "hangup_unavailable" | "held_by_helpdesk" | "held_by_teammate" | "idempotency_in_progress" | "idempotency_key_reused" | "inbox_full" | "insufficient_balance" | "internal_error" | "invalid_cursor" | "invalid_idempotency_key" | "invalid_number" | "invalid_opt_in" | "invalid_request" | "invalid_schedule" | "invalid_variables" | "invalid_webhook_url" | "invitation_invalid" | "knowledge_base_full" | "knowledge_base_limit" | "knowledge_base_not_found" | "kyb_required" | "link_invalid" | "link_not_fetched" | "malformed_json" | "method_not_allowed" | "missing_required_variables" | "no_phone_number" | "no_valid_numbers" | "not_found" | "nudge_in_flight" | "nudge_not_cancellable" | "openid_refused" | "opt_in_required" | "opt_out_downgrade" | "outside_calling_window" | "password_wrong" | "payload_too_large" | "pending_limit" | "phone_immutable" | "phone_number_required" | "phone_taken" | "plan_feature_locked" | "possibly_placed" | "preflight_blocked" | "provider_refused" | "provider_unavailable" | "range_not_satisfiable" | "rate_limited" | "recipient_unsupported" | "reply_failed" | "reply_in_progress" | "request_timeout" | "role_missing" | "scheduled_at_in_past" | "scheduled_at_too_far" | "scheduled_call_not_cancellable" | "session_ended" | "sign_in_failed" | "sign_in_link_invalid" | "stream_attached" | "stream_limit" | "stream_paused" | "template_not_found" | "template_params_invalid" | "template_unavailable" | "test_mode_read_only" | "tier_limit_reached" | "unauthorized" | "unavailable" | "unknown_field" | "vertical_not_allowed" | "voice_unavailable" | "window_closed" | "workflow_template_invalid" | "workspace_suspended";
  EvaluatedChat: { chatId: string; channel: Schemas["ChatChannel"]; agentId: string; contactId: string | null; runId: string; runNo: number; trigger: Schemas["EvaluationTrigger"]; model: string; evaluatedAt: string; passed: number; failed: number; notApplicable: number; results: Array<Schemas["CriterionResult"]>; isTest: boolean };
  Evaluation: { id: string; kind: Schemas["GradedConversation"]; chatId: string | null; callId: string | null; agentId: string; status: Schemas["EvaluationStatus"]; cause: Schemas["EvaluationCause"] | null; runNo: number | null; trigger: Schemas["EvaluationTrigger"]; sweepId: string | null; criteriaVersion: number; model: string | null; createdAt: string; evaluatedAt: string | null; passed: number; failed: number; notApplicable: number; chargedMinor: number; results: Array<Schemas["EvaluationResult"]>; marks: Array<Schemas["EvaluationMark"]> };
  EvaluationAgreement: { agentId: string; criteria: Array<Schemas["CriterionAgreement"]> };
  EvaluationAgreementResponse: { data: Schemas["EvaluationAgreement"] };
  EvaluationCause: "insufficient_balance" | "workspace_suspended" | "feature_disabled" | "no_model" | "model_failed" | "nothing_to_read" | "criteria_gone";
  EvaluationCriterion: { key: string; name: string; kind: Schemas["CriterionKind"]; passThreshold: number | null; prompt: string };
  EvaluationMark: { criterionKey: string; userId: string; verdict: Schemas["EvaluationVerdict"]; note: string | null; updatedAt: string };
  EvaluationPage: { data: Array<Schemas["Evaluation"]>; nextCursor: string | null };
  EvaluationQuote: { text: string; line: number };
  EvaluationResponse: { data: Schemas["Evaluation"] };
  EvaluationResult: { criterionKey: string; name: string; kind: Schemas["CriterionKind"]; passThreshold: number | null; verdict: Schemas["EvaluationVerdict"]; score: number | null; reasoning: string; quotes: Array<Schemas["EvaluationQuote"]> };
  EvaluationStatus: "pending" | "graded" | "failed" | "skipped";
  EvaluationSummary: { agentId: string; kind: Schemas["GradedConversation"]; criteria: Array<Schemas["CriterionShares"]> };
  EvaluationSummaryResponse: { data: Schemas["EvaluationSummary"] };
  EvaluationSweep: { id: string; agentId: string; kind: Schemas["GradedConversation"]; from: string; to: string; outcome: string | null; onlyUngraded: boolean; criteriaVersion: number; status: Schemas["EvaluationSweepStatus"]; cause: Schemas["EvaluationCause"] | null; conversations: number; graded: number; failed: number; skipped: number; chargedMinor: number; createdBy: string; createdAt: string; finishedAt: string | null };
  EvaluationSweepPage: { data: Array<Schemas["EvaluationSweep"]>; nextCursor: string | null };
  EvaluationSweepResponse: { data: Schemas["EvaluationSweep"] };
  EvaluationSweepStatus: "running" | "finished" | "cancelled" | "stopped";
  EvaluationTrial: { criteria: Array<Schemas["NewEvaluationCriterion"]>; chatIds?: Array<string>; callIds?: Array<string> };
  EvaluationTrigger: "auto" | "sweep" | "manual";
  EvaluationVerdict: "pass" | "fail" | "na";
  Event: { id: string; type: Schemas["EventType"]; createdAt: string; livemode: boolean; data: unknown };
  EventStream: { data: Array<Schemas["Event"]>; cursor: string; brand: string };
  EventTemplate: { name: string; language: string; category: string | null };
  EventTrigger: { type: Schemas["EventType"] };
  EventType: "call.started" | "call.completed" | "call.failed" | "call.transferred" | "transcript.ready" | "recording.ready" | "outcome.captured" | "nudge.scheduled" | "nudge.dialing" | "nudge.attempt_ended" | "nudge.finished" | "scheduled_call.cancelled" | "contact.opted_out" | "campaign.finished" | "board.card_moved" | "wallet.low" | "stream.record_rejected" | "message.received" | "message.sent" | "message.delivered" | "message.read" | "message.failed" | "chat.started" | "chat.completed" | "chat.analyzed" | "chat.taken_over" | "chat.handed_back" | "chat.assigned" | "chat.handoff_requested" | "chat.evaluated" | "document.received" | "document.updated" | "chatapp.number_quality_changed" | "chatapp.account_restricted" | "chatapp.number_ai_paused" | "chatapp.template.updated" | "webhook.test";
  Extraction: { key: string; label: string; type: Schemas["ExtractionType"] };
  ExtractionInput: { key: string; label: string; type: Schemas["ExtractionType"] };
  ExtractionType: "text" | "boolean" | "number";
  FailedCall: { callId: string; agentId: string | null; campaignId: string | null; contactId: string | null; externalRef: string | null; direction: Schemas["Direction"]; toNumber: string; fromNumber: string; answeredAt: string | null; answeredBy: Schemas["AnsweredBy"] | null; endedAt: string | null; durationSeconds: number | null; endCause: string | null; outcome: string | null; language: Schemas["LanguageCode"] | null; metadata: Record<string, unknown>; blockReason?: string };
  FailedReplay: { since: string; until?: string };
  FedCampaign: { campaignId: string; name: string; status: Schemas["CampaignStatus"]; variableMapping: Record<string, unknown>; backfillDays: number; transliterate: boolean; attachedAt: string };
  FieldMap: { phone?: string; name?: string; externalId?: string };
  FieldMapChange: { phone?: string | null; name?: string | null; externalId?: string | null };
  FinishedCampaign: { campaignId: string; name: string; agentId: string | null; reason: string; finishedAt: string; channel?: string; stats?: Schemas["FinishedStats"] };
  FinishedNudge: { id: string; agentId: string; status: Schemas["NudgeStatus"]; result: Schemas["NudgeResult"] | null; statusReason: string | null; blockReason: string | null; toNumber: string; fromNumber: string | null; externalRef: string | null; variables: Record<string, string>; metadata: Record<string, unknown>; outsideWindow: Schemas["OutsideWindow"]; scheduledAt: string | null; nextAttemptAt: string | null; expiresAt: string; retry: Schemas["NudgeRetry"]; attempts: number; callId: string | null; livemode: boolean; createdAt: string; finishedAt: string | null; startedAt?: string; answeredAt?: string; endedAt?: string; endCause?: string; durationSeconds?: number; outcome?: string; summary?: string; extracted?: Record<string, unknown>; attempt?: Schemas["NudgeAttempt"] };
  FinishedStats: { total: number; pending: number; sent: number; delivered: number; read: number; replied: number; failed: number; frequencyCapped: number; skipped: number; deliveryUnknown: number; skippedByReason: Record<string, number>; failedByCode: Record<string, number>; converted: number; optedOutAfter: number; sending: number };
  Flow: { draft: Record<string, unknown>; draftVersion: number; published: Record<string, unknown>; publishedVersion: number; issues: Array<Schemas["FlowIssue"]>; updatedBy: string | null; updatedByName: string | null; updatedAt: string | null; editing: Array<Schemas["FlowEditor"]> };
  FlowChange: { code: Schemas["ChangeKind"]; stepId: string | null; stepName: string | null; stepType: string | null; variable: string | null; path: string | null; before: unknown; after: unknown };
  FlowDiff: { from: number; to: number | null; changes: Array<Schemas["FlowChange"]>; more: boolean };
  FlowDiffResponse: { data: Schemas["FlowDiff"] };
  FlowEdit: { graph: Schemas["FlowGraph"]; baseVersion: number };
  FlowEditor: { member: string; name: string; since: string };
  FlowEditors: { editing: Array<Schemas["FlowEditor"]> };
  FlowEditorsResponse: { data: Schemas["FlowEditors"] };
  FlowGraph: { startNodeId?: unknown; nodes: unknown; variables?: unknown };
  FlowIssue: { level: Schemas["FlowIssueLevel"]; code: string; message: string; nodeId: string | null };
  FlowIssueLevel: "error" | "warning";
  FlowPresence: { open?: boolean };
  FlowPublication: { note?: string };
  FlowResponse: { data: Schemas["Flow"] };
  FlowRestore: { baseVersion: number };
  FlowTryView: { id: string; agentId: string; stepId: string | null; extracted: Record<string, unknown>; sampleVariables: Array<string>; turns: number; turn: Schemas["TryTurn"]; ended: boolean; outcome: string | null; endCause: Schemas["TryEndCause"] | null; stopped: Schemas["TryStop"] | null; expiresAt: string };
  FlowTryViewResponse: { data: Schemas["FlowTryView"] };
  FlowVersion: { number: number; live: boolean; publishedBy: string | null; publishedByName: string | null; publishedAt: string | null; note: string | null; hash: string; bytes: number };
  FlowVersionDetail: { number: number; live: boolean; publishedBy: string | null; publishedByName: string | null; publishedAt: string | null; note: string | null; hash: string; bytes: number; graph: Record<string, unknown> };
  FlowVersionDetailResponse: { data: Schemas["FlowVersionDetail"] };
  FlowVersionPage: { data: Array<Schemas["FlowVersion"]>; nextCursor: string | null };
  FlowVisits: { version: number; days: number; conversations: number; edges: Array<Schemas["EdgeVisitCount"]> };
  FlowVisitsResponse: { data: Schemas["FlowVisits"] };
  FoundItem: { type: Schemas["FoundType"]; id: string; title: string; subtitle: string | null; at: string };
  FoundItemList: { data: Array<Schemas["FoundItem"]> };
  FoundType: "contact" | "call" | "agent" | "campaign" | "campaign_run" | "knowledge_base" | "nudge" | "scheduled_call" | "number" | "recording" | "webhook_endpoint" | "delivery" | "event";
  FullTranscript: { status: Schemas["FullTranscriptStatus"] | null; turns: Array<Schemas["TranscriptTurn"]> | null };
  FullTranscriptStatus: "pending" | "processing" | "done" | "failed";
  GateWarning: { gate: string; message: string };
  GradedConversation: "chat" | "call";
  HandedBackChat: { chatId: string; channel: Schemas["ChatChannel"]; agentId: string; contactId: string | null; externalRef: string | null; customer: Schemas["ConversationCustomer"] | null; businessNumber: string | null; origin: Schemas["ChatOrigin"]; linkedCallId: string | null; status: Schemas["ConversationStatus"]; endCause: Schemas["ChatEndCause"] | null; startedAt: string; endedAt: string | null; messageCount: number; language: Schemas["LanguageCode"]; handoff: Schemas["Handoff"] | null; isTest: boolean; metadata: Record<string, unknown>; adReferral: unknown; by: string; note: string | null; messagesAdded: number; transcript?: Array<Schemas["TranscriptLine"]> };
  HandedBackConversation: { id: string; status: Schemas["WithAgent"]; alreadyWithAgent: boolean; livemode: boolean };
  HandedBackConversationResponse: { data: Schemas["HandedBackConversation"] };
  Handoff: { reason: string | null; requestedAt: string; userId: string | null };
  HandoffRequest: { chatId: string; channel: Schemas["ChatChannel"]; agentId: string; contactId: string | null; externalRef: string | null; customer: Schemas["ConversationCustomer"] | null; businessNumber: string | null; origin: Schemas["ChatOrigin"]; linkedCallId: string | null; status: Schemas["ConversationStatus"]; endCause: Schemas["ChatEndCause"] | null; startedAt: string; endedAt: string | null; messageCount: number; language: Schemas["LanguageCode"]; handoff: Schemas["Handoff"] | null; isTest: boolean; metadata: Record<string, unknown>; adReferral: unknown; reason: string | null; handoffAt: string; transcript?: Array<Schemas["TranscriptLine"]> };
  HeaderParam: { type: "text" | "image" | "video" | "document"; text?: string; url?: string; filename?: string };
  HeaderSample: { handle: string };
  HeaderSampleResponse: { data: Schemas["HeaderSample"] };
  Health: { ok: boolean; reason?: string; trunks?: Array<Schemas["TrunkHealth"]>; warnings?: Array<string>; clockSkewMs?: number };
  HeldReason: "calling_window" | "frequency" | "caller_id_cap" | "provider_error";
  InboundAgent: { agentId: string | null };
  InboxAssignee: { userId: string };
  InboxAssignment: "manual" | "round_robin";
  InboxAvailability: { available: boolean };
  InboxCeiling: { maxOpen?: number | null };
  InboxCounts: { waiting: number; mine: number; open: number; ended: number; limit: number };
  InboxCountsResponse: { data: Schemas["InboxCounts"] };
  InboxEntry: { id: string; channel: Schemas["ChatChannel"]; agentId: string; agentName: string; contactId: string | null; externalRef: string | null; customer: Schemas["ConversationCustomer"] | null; state: Schemas["ChatState"]; endCause: Schemas["ChatEndCause"] | null; assignedTo: Schemas["Teammate"] | null; assignedAt: string | null; helpdesk: string | null; waitingSince: string | null; handoffReason: string | null; firstResponseDueAt: string | null; lastMessage: Schemas["InboxPreview"] | null; windowEndsAt: string | null; unread: number | null; labels: Array<Schemas["ChatLabel"]>; messageCount: number; startedAt: string; lastMessageAt: string; endedAt: string | null };
  InboxEntryDetail: { id: string; channel: Schemas["ChatChannel"]; agentId: string; agentName: string; contactId: string | null; externalRef: string | null; customer: Schemas["ConversationCustomer"] | null; state: Schemas["ChatState"]; endCause: Schemas["ChatEndCause"] | null; assignedTo: Schemas["Teammate"] | null; assignedAt: string | null; helpdesk: string | null; waitingSince: string | null; handoffReason: string | null; firstResponseDueAt: string | null; lastMessage: Schemas["InboxPreview"] | null; windowEndsAt: string | null; unread: number | null; labels: Array<Schemas["ChatLabel"]>; messageCount: number; startedAt: string; lastMessageAt: string; endedAt: string | null; messages: Array<Schemas["InboxMessage"]>; summary: string | null; outcome: string | null; sentiment: string | null; extracted: Record<string, unknown> | null };
  InboxEntryDetailResponse: { data: Schemas["InboxEntryDetail"] };
  InboxEntryPage: { data: Array<Schemas["InboxEntry"]>; nextCursor: string | null };
  InboxEntryResponse: { data: Schemas["InboxEntry"] };
  InboxMember: { userId: string; name: string; available: boolean; present: boolean; lastSeenAt: string | null; openChats: number; maxOpen: number; ownMaxOpen: boolean; lastAssignedAt: string | null };
  InboxMemberPage: { data: Array<Schemas["InboxMember"]>; nextCursor: string | null };
  InboxMemberResponse: { data: Schemas["InboxMember"] };
  InboxMessage: { seq: number; role: Schemas["ChatRole"]; text: string; author: Schemas["Teammate"] | null; agentName: string | null; at: string; failed?: boolean };
  InboxPreview: { role: Schemas["ChatRole"]; text: string; at: string };
  InboxRead: { upTo: number };
  InboxSettings: { assignment: Schemas["InboxAssignment"]; maxOpenPerMember: number; firstResponseMinutes: number | null };
  InboxSettingsChange: { assignment: Schemas["InboxAssignment"]; maxOpenPerMember?: number; firstResponseMinutes?: number | null };
  InboxSettingsResponse: { data: Schemas["InboxSettings"] };
  Ingested: { received: number; accepted: number; invalid: number; duplicate: number; queued: number; results: Array<Schemas["IngestedRecord"]> };
  IngestedRecord: { index: number; status: Schemas["RecordOutcome"]; recordId: string; reason?: Schemas["RecordReason"] };
  IngestedResponse: { data: Schemas["Ingested"] };
  InterfaceLanguage: "en" | "hi";
  InvalidReason: "invalid_phone" | "not_indian" | "duplicate" | "erased";
  KnowledgeBase: { id: string; name: string; documentCount: number; chunkCount: number; agentCount: number; createdAt: string; updatedAt: string };
  KnowledgeBaseDetail: { id: string; name: string; documentCount: number; chunkCount: number; agentCount: number; createdAt: string; updatedAt: string; documents: Array<Schemas["KnowledgeDocument"]> };
  KnowledgeBaseDetailResponse: { data: Schemas["KnowledgeBaseDetail"] };
  KnowledgeBaseList: { data: Array<Schemas["KnowledgeBase"]> };
  KnowledgeBaseResponse: { data: Schemas["KnowledgeBase"] };
  KnowledgeDocument: { source: string; type: Schemas["KnowledgeSource"]; chunkCount: number; chars: number; updatedAt: string };
  KnowledgeHit: { content: string; score: number; source: string; type: Schemas["KnowledgeSource"]; heading: string | null; page: number | null };
  KnowledgeHitList: { data: Array<Schemas["KnowledgeHit"]> };
  KnowledgeSource: "text" | "file" | "link";
  KnownModels: { recognisers: Array<string>; synthesisers: Array<string>; languageModels: Array<string> };
  Language: { code: Schemas["LanguageCode"]; label: string };
  LanguageCode: "en" | "hi" | "bn" | "gu" | "kn" | "ml" | "mr" | "or" | "pa" | "ta" | "te";
  LanguageCount: { language: string; count: number };
  LastWords: { who: Schemas["LiveSpeaker"]; text: string; at: string };
  LiveCall: { id: string; contactId: string | null; campaignId: string | null; agentId: string | null; agentName: string | null; direction: Schemas["Direction"]; state: Schemas["CallState"]; toNumber: string; fromNumber: string; startedAt: string; since: string; lastWords: Schemas["LastWords"] | null; turns: Array<Schemas["LiveTurn"]>; step: Schemas["LiveStep"] | null; flags: Array<Schemas["CallFlag"]>; captured: Record<string, unknown>; costSoFarMinor: number; seq: number };
  LiveCallPage: { data: Array<Schemas["LiveCall"]>; nextCursor: string | null };
  LiveSpeaker: "agent" | "customer";
  LiveStep: { id: string; name: string | null };
  LiveTurn: { turn: number; who: Schemas["LiveSpeaker"]; text: string; complete: boolean; at: string };
  LogChain: "audit" | "grievances" | "consent" | "actions";
  LogChannel: "voice" | "chat";
  LogHead: { workspaceId: string; chain: Schemas["LogStrand"]; seq: number; hash: string; signedAt: string; algorithm: "ed25519"; publicKey: string; signature: string };
  LogHeadResponse: { data: Schemas["LogHead"] };
  LogRecord: { id: string; chain: Schemas["LogChain"]; seq: number; at: string; interactionId: string; verdict: Schemas["LogVerdict"]; blockedBy: string | null; evidence: Record<string, unknown>; outcome: string | null; recordingId: string | null; consentId: string | null; channel: Schemas["LogChannel"]; agentId: string | null; hash: string; prevHash: string };
  LogRecordPage: { data: Array<Schemas["LogRecord"]>; nextCursor: string | null };
  LogRecordResponse: { data: Schemas["LogRecord"] };
  LogStrand: "audit" | "grievances" | "consent" | "actions" | "audit_test" | "grievances_test" | "consent_test" | "actions_test";
  LogVerdict: "allowed" | "blocked";
  LogVerification: { verified: boolean; records: number; chains: Array<Schemas["ChainVerification"]> };
  LogVerificationResponse: { data: Schemas["LogVerification"] };
  LowWallet: { level: string; balanceMinor: number; thresholdMinor: number; currency: string; costPerMinuteMinor: number; estimatedMinutesLeft: number | null };
  MadeTestLink: { id: string; agentId: string; name: string; draft: boolean; createdBy: string; createdAt: string; expiresAt: string; chatsToday: number; messagesToday: number; url: string };
  MadeTestLinkResponse: { data: Schemas["MadeTestLink"] };
  MemberChange: { role: Schemas["Role"] };
  MemberInvitation: { id: string; email: string; name: string; role: Schemas["Role"]; invitedBy: string; createdAt: string; expiresAt: string; url?: string; mailed?: boolean };
  MemberInvitationList: { data: Array<Schemas["MemberInvitation"]> };
  MemberInvitationResponse: { data: Schemas["MemberInvitation"] };
  Membership: { workspaceId: string; workspaceName: string; memberId: string; role: Schemas["Role"] };
  MessageData: { messageId: string; providerMessageId: string | null; chatId: string | null; threadId: string; agentId: string | null; contactId: string; externalRef: string | null; direction: Schemas["MessageDirection"]; source: Schemas["MessageSource"]; type: string; text: string | null; template: Schemas["EventTemplate"] | null; media: Schemas["MessageMedia"] | null; from: string | null; to: string | null; customerUserId: string | null; customerUsername: string | null; phoneNumberId: string; status: Schemas["MessageStatus"]; timestamp: string; statuses: Schemas["MessageStatuses"]; error?: Schemas["MessageError"]; replyTo?: string; reaction?: Record<string, unknown>; interactive?: Record<string, unknown>; location?: Record<string, unknown>; content?: Record<string, unknown> };
  MessageDeliveredEvent: { id: string; type: "message.delivered"; createdAt: string; livemode: boolean; data: Schemas["MessageData"] };
  MessageDirection: "outbound" | "inbound";
  MessageError: { code: number; title: string; detail: string };
  MessageFailedEvent: { id: string; type: "message.failed"; createdAt: string; livemode: boolean; data: Schemas["MessageData"] };
  MessageMedia: { type: string; mimeType: string | null; messageId: string; available: boolean };
  MessageReadEvent: { id: string; type: "message.read"; createdAt: string; livemode: boolean; data: Schemas["MessageData"] };
  MessageReceivedEvent: { id: string; type: "message.received"; createdAt: string; livemode: boolean; data: Schemas["MessageData"] };
  MessageSentEvent: { id: string; type: "message.sent"; createdAt: string; livemode: boolean; data: Schemas["MessageData"] };
  MessageSource: "customer" | "agent" | "human" | "voice_tool" | "board_action" | "api" | "campaign" | "test" | "system";
  MessageStatus: "queued" | "sent" | "delivered" | "read" | "failed" | "delivery_unknown" | "received" | "deleted";
  MessageStatuses: { sentAt: string | null; deliveredAt: string | null; readAt: string | null; failedAt: string | null };
  MessageTemplate: { id: string | null; name: string; language: string; category: string | null };
  MovedBy: "api" | "sorting";
  MovedCard: { boardId: string; campaignId: string | null; agentId: string | null; cardId: string; moveId: string; contactId: string; callId: string | null; movedBy: string; from: Schemas["MovedColumn"] | null; to: Schemas["MovedColumn"]; movedAt: string; externalRef: string | null };
  MovedColumn: { id: string; key: string; type: Schemas["ColumnType"] };
  NewAgent: { name: string; systemPrompt?: string; voice?: string; language?: Schemas["LanguageCode"]; workflowTemplate?: Schemas["WorkflowTemplate"]; vertical?: Schemas["Vertical"]; policyRef?: string; communication?: Schemas["Communication"]; toolIds?: Array<string>; allowedTransferNumbers?: Array<string>; extractionSchema?: Array<Schemas["ExtractionInput"]>; speakable?: boolean; pronunciations?: Array<Schemas["Pronunciation"]>; callReason?: string; redact?: boolean; languages?: Array<Schemas["LanguageCode"]>; voices?: Record<string, string>; models?: Schemas["AgentModels"]; knowledgeBaseId?: string | null; channel?: Schemas["AgentChannel"]; direction?: Schemas["Direction"] };
  NewAgentEvaluation: { criteria: Array<Schemas["NewEvaluationCriterion"]>; enabled: boolean; samplingRate?: number; callSamplingRate?: number };
  NewAttachment: { variableMapping?: Record<string, unknown>; backfillDays?: number; transliterate?: boolean };
  NewCall: { agentId: string; toNumber: string; fromNumber?: string; externalRef?: string; variables?: Record<string, unknown>; metadata?: Record<string, unknown> };
  NewCallingList: { contacts: Array<Schemas["NewCallingListRow"]> };
  NewCallingListRow: { phone: string; name?: string | null; variables?: Record<string, string> | null };
  NewCampaign: { name?: string; channel?: string; chatapp?: Schemas["CampaignChatappSettings"]; workflowType?: Schemas["CampaignWorkflowType"]; agentId?: string | null; dltTemplateRef?: string | null; settings?: Schemas["CampaignSettingsChange"] };
  NewChannelMessage: { to: string; from?: string; template?: Schemas["TemplateUse"]; text?: string; media?: Schemas["NewMedia"]; interactive?: Schemas["NewInteractive"]; location?: Schemas["NewLocation"]; reaction?: Schemas["NewReaction"]; contacts?: Array<Schemas["NewContactCard"]>; replyTo?: string; optIn?: Schemas["NewOptIn"] };
  NewChannelTemplate: { name: string; language: string; category: Schemas["TemplateCategory"]; components: Array<Schemas["TemplateComponent"]> };
  NewChatMessage: { text: string };
  NewChatNote: { text: string };
  NewChatSession: { agentId: string };
  NewConsent: { source: Schemas["ConsentSource"]; capturedAt: string; reference?: string | null };
  NewContact: { externalRef: string; phone: string; preferredLanguage?: Schemas["ContactLanguage"]; timezone?: string; attributes?: Record<string, unknown>; optOut?: boolean; name?: string | null; email?: string | null; company?: string | null; consent?: Schemas["NewConsent"] };
  NewContactCard: Record<string, unknown>;
  NewConversation: { agentId: string; to: string; template: Schemas["ConversationTemplateUse"]; from?: string; variables?: Record<string, unknown>; contact?: Schemas["ConversationContact"]; metadata?: Record<string, unknown>; optIn?: Schemas["ConversationOptIn"]; onActiveSession?: Schemas["OnActiveSession"]; priorMessages?: Array<Schemas["PriorMessage"]>; handoverNote?: string };
  NewDataStream: { name: string; kind: Schemas["DataStreamKind"]; fieldMap?: Schemas["FieldMapChange"] | null; config?: Record<string, unknown> | null; integrationId?: string | null };
  NewDoNotCallNumbers: { phones: Array<string>; reason?: string | null };
  NewEvaluationCriterion: { key: string; name: string; kind: Schemas["CriterionKind"]; passThreshold?: number | null; prompt: string };
  NewEvaluationMark: { criterionKey: string; verdict: Schemas["EvaluationVerdict"]; note?: string | null };
  NewEvaluationMarks: { marks: Array<Schemas["NewEvaluationMark"]> };
  NewEvaluationSweep: { agentId: string; kind: Schemas["GradedConversation"]; from: string; to: string; filters?: Schemas["SweepFilters"] };
  NewFlowTry: { graph?: Schemas["FlowGraph"]; variables?: Record<string, unknown>; toolResults?: Array<Schemas["TryToolResult"]>; transfer?: boolean };
  NewInteractive: { type: "buttons" | "list" | "cta_url"; body: string; header?: string; footer?: string; buttons?: Array<Schemas["NewReplyButton"]>; button?: string; sections?: Array<Schemas["NewListSection"]>; displayText?: string; url?: string };
  NewInvitation: { email: string; name?: string; role: Schemas["Role"] };
  NewKnowledgeBase: { name: string };
  NewKnowledgeLink: { url: string };
  NewListRow: { id: string; title: string; description?: string };
  NewListSection: { title?: string; rows: Array<Schemas["NewListRow"]> };
  NewLocation: { latitude: number; longitude: number; name?: string; address?: string };
  NewMedia: { type: "image" | "video" | "document" | "audio"; url: string; caption?: string; filename?: string };
  NewNudge: { agentId: string; toNumber: string; fromNumber?: string; externalRef?: string; variables?: Record<string, unknown>; metadata?: Record<string, unknown>; scheduledAt?: string; outsideWindow?: Schemas["OutsideWindow"]; expiresAt?: string; retry?: Schemas["NewNudgeRetry"] };
  NewNudgeRetry: { maxRetries?: number; on?: Array<Schemas["RetryOn"]>; delayMinutes?: number };
  NewOptIn: { source: string; capturedAt: string };
  NewReaction: { messageId: string; emoji: string };
  NewReplyButton: { id: string; title: string };
  NewSavedAnswer: { shortcut: string; text: string };
  NewScheduledCall: { agentId: string; toNumber: string; fromNumber?: string; externalRef?: string; variables?: Record<string, unknown>; metadata?: Record<string, unknown>; scheduledAt: string };
  NewTeammateMessage: { text: string };
  NewTestLink: { name?: string; draft?: boolean; expiresInDays?: number };
  NewText: { text: string; title?: string | null };
  NewTryMessage: { text?: string; document?: boolean; toolResults?: Array<Schemas["TryToolResult"]>; transfer?: boolean };
  NewWebhookEndpoint: { url: string; events?: Array<Schemas["EventType"]>; agentIds?: Array<string>; description?: string | null; status?: Schemas["WebhookStatus"] };
  Notification: { id: string; kind: Schemas["NotificationKind"]; subject: Schemas["NotificationSubject"]; createdAt: string; readAt: string | null };
  NotificationKind: "assigned" | "mentioned" | "export_finished" | "import_finished" | "campaign_finished" | "campaign_paused";
  NotificationPage: { data: Array<Schemas["Notification"]>; nextCursor: string | null };
  NotificationSubject: { type: string; id: string };
  NotificationTaken: { received: number };
  NotificationTakenResponse: { data: Schemas["NotificationTaken"] };
  NotificationsRead: { read: number; unread: number };
  NotificationsReadResponse: { data: Schemas["NotificationsRead"] };
  Nudge: { id: string; agentId: string; status: Schemas["NudgeStatus"]; result: Schemas["NudgeResult"] | null; statusReason: string | null; blockReason: string | null; toNumber: string; fromNumber: string | null; externalRef: string | null; variables: Record<string, string>; metadata: Record<string, unknown>; outsideWindow: Schemas["OutsideWindow"]; scheduledAt: string | null; nextAttemptAt: string | null; expiresAt: string; retry: Schemas["NudgeRetry"]; attempts: number; callId: string | null; livemode: boolean; createdAt: string; finishedAt: string | null };
  NudgeAttempt: { callId: string; startedAt: string; answeredAt: string | null; endedAt: string | null; endCause: string | null; durationSeconds: number | null; outcome: string | null; summary: string | null; extracted: Record<string, unknown> | null };
  NudgeAttemptEndedEvent: { id: string; type: "nudge.attempt_ended"; createdAt: string; livemode: boolean; data: Schemas["EndedAttempt"] };
  NudgeBatchPreflight: { agentId: string; toNumbers: Array<string>; fromNumber?: string | null };
  NudgeCancellation: { ids?: Array<string>; all?: boolean };
  NudgeDecision: "queue" | "hold" | "dial" | "ring" | "connect" | "talk" | "note" | "finish";
  NudgeDetail: { id: string; agentId: string; status: Schemas["NudgeStatus"]; result: Schemas["NudgeResult"] | null; statusReason: string | null; blockReason: string | null; toNumber: string; fromNumber: string | null; externalRef: string | null; variables: Record<string, string>; metadata: Record<string, unknown>; outsideWindow: Schemas["OutsideWindow"]; scheduledAt: string | null; nextAttemptAt: string | null; expiresAt: string; retry: Schemas["NudgeRetry"]; attempts: number; callId: string | null; livemode: boolean; createdAt: string; finishedAt: string | null; attemptsList: Array<Schemas["NudgeAttempt"]>; recordingUrl: string | null };
  NudgeDetailResponse: { data: Schemas["NudgeDetail"] };
  NudgeDialingEvent: { id: string; type: "nudge.dialing"; createdAt: string; livemode: boolean; data: Schemas["Nudge"] };
  NudgeFinishedEvent: { id: string; type: "nudge.finished"; createdAt: string; livemode: boolean; data: Schemas["FinishedNudge"] };
  NudgeForecast: { toNumber: string; blocked: boolean; blockReason: string | null; blockMessage: string | null; warnings: Array<Schemas["GateWarning"]>; insideWindow: boolean; nextWindowAt: string | null };
  NudgeForecastResponse: { data: Schemas["NudgeForecast"] };
  NudgePage: { data: Array<Schemas["Nudge"]>; nextCursor: string | null };
  NudgePreflight: { agentId: string; toNumber: string; fromNumber?: string | null };
  NudgeResponse: { data: Schemas["Nudge"] };
  NudgeResult: "connected" | "voicemail" | "opted_out" | "no_answer" | "busy" | "failed" | "blocked" | "expired" | "cancelled";
  NudgeRetry: { maxRetries: number; on: Array<Schemas["RetryOn"]>; delayMinutes: number };
  NudgeScheduledEvent: { id: string; type: "nudge.scheduled"; createdAt: string; livemode: boolean; data: Schemas["Nudge"] };
  NudgeStatus: "queued" | "scheduled" | "dialing" | "in_progress" | "finished";
  NudgeTimelineEntry: { at: string; event: string; checks: Array<Record<string, unknown>>; decision: Schemas["NudgeDecision"]; status: Schemas["NudgeStatus"]; reason: string | null; until: string | null; callId: string | null; times: number; lastAt: string };
  NudgeTimelineEntryList: { data: Array<Schemas["NudgeTimelineEntry"]> };
  Number: { id: string; number: string; country: string; type: string; series: Schemas["NumberSeries"] | null; status: string; voiceEnabled: boolean; smsEnabled: boolean; inboundAgentId: string | null; carrier: string | null };
  NumberList: { data: Array<Schemas["Number"]> };
  NumberPause: { phoneNumberId: string; businessNumber: string; pausedUntil: string };
  NumberQuality: { phoneNumberId: string; businessNumber: string; previousQuality: string; quality: string };
  NumberResponse: { data: Schemas["Number"] };
  NumberSeries: "140" | "1600";
  OnActiveSession: "reject" | "send_in_session";
  OpenIdMethod: { name: string; path: string };
  OpenedChatSession: { sessionId: string; agentId: string; reply: string | null };
  OpenedChatSessionResponse: { data: Schemas["OpenedChatSession"] };
  OpenedTestChat: { chatId: string; agentName: string; reply: string | null; ended: boolean };
  OpenedTestChatResponse: { data: Schemas["OpenedTestChat"] };
  OptedOutContact: { contactId: string; externalRef: string | null; phone: string | null; source: string; callId?: string; channel?: string };
  OutcomeCapturedEvent: { id: string; type: "outcome.captured"; createdAt: string; livemode: boolean; data: Schemas["CallData"] };
  OutcomeCost: { outcome: string | null; calls: number; chargedMinor: number };
  OutsideWindow: "queue" | "reject";
  OwnWorkspaceChange: { name?: string; lowBalanceMinor?: number | null };
  PasswordChange: { password: string; newPassword: string };
  Peaks: { stepMs: number; customer: Array<number>; agent: Array<number> };
  PeaksOfCall: { callId: string; peaks: Schemas["Peaks"] | null };
  PeaksOfCallResponse: { data: Schemas["PeaksOfCall"] };
  PlacedCall: { placed: boolean; interactionId: string; providerCallId: string; warnings?: Array<Schemas["VariableWarning"]> };
  Preflight: { ready: boolean; problems: Array<Schemas["PreflightProblem"]>; warnings: Array<Schemas["PreflightProblem"]>; total: number; examined: number; willCall: number; willWait: number; willWarn: number; willNotCall: number; byReason: Record<string, Schemas["PreflightReason"]>; schedule: Schemas["PreflightSchedule"]; cost: Schemas["PreflightCost"] };
  PreflightBasis: { source: "agent_calls" | "assumption"; calls: number; connectRate: number; avgTalkSeconds: number };
  PreflightCost: { currency: string; costPerMinuteMinor: number; availableMinor: number; expectedMinor: number; atMostMinor: number; basedOn: Schemas["PreflightBasis"] };
  PreflightProblem: { code: Schemas["PreflightProblemCode"]; message: string };
  PreflightProblemCode: "agent_missing" | "agent_not_published" | "agent_not_call" | "agent_not_outbound" | "flow_not_ready" | "no_phone_number" | "from_number_not_owned" | "kyb_required" | "workspace_suspended" | "insufficient_balance" | "balance_too_small" | "list_empty" | "nobody_to_call" | "missing_required_variables" | "completed" | "past_end_date" | "not_done_by_end_date" | "never_open" | "voice_unavailable" | "number_series" | "dlt_entity_required" | "dlt_template_required";
  PreflightReason: { count: number; examples: Array<string> };
  PreflightResponse: { data: Schemas["Preflight"] };
  PreflightSchedule: { insideWindow: boolean; startsAt: string | null; finishesAt: string | null; lines: number; diallingHours: number };
  PriorMessage: { role: Schemas["PriorRole"]; text: string; agentName?: string; sentAt?: string; providerMessageId?: string };
  PriorRole: "customer" | "agent" | "bot";
  ProfileChange: { name?: string; language?: Schemas["InterfaceLanguage"] };
  Pronunciation: { written: string; spoken: string };
  ProviderReaction: { stage: Schemas["ReactionStage"]; provider: string; answers: number; p50Ms: number | null; p95Ms: number | null };
  ProvidersOfCall: { recognition: string | null; model: string | null; synthesis: string | null };
  PushedRecords: Record<string, unknown> | Array<Record<string, unknown>>;
  ReactionParts: { recognition: number; endpointing: number; model: number; synthesis: number; playout: number; total: number };
  ReactionStage: "recognition" | "model" | "synthesis";
  Reactions: { answers: number; p50Ms: number | null; p95Ms: number | null; byAgent: Array<Schemas["AgentReaction"]>; byProvider: Array<Schemas["ProviderReaction"]> };
  ReadNotifications: { upTo?: string; ids?: Array<string> };
  ReceivedDocument: { documentId: string; interactionId: string; chatSessionId: string; agentId: string; nodeId: string; label: string; status: Schemas["DocumentStatus"]; fields: Record<string, unknown>; reasons: Array<string>; attempts: number; parts: Array<Schemas["DocumentPart"]>; reviewedAt: string | null; createdAt: string; updatedAt: string };
  RecordCampaign: { campaignId: string; status: Schemas["CallingListState"] };
  RecordChain: "audit" | "grievances" | "consent";
  RecordOutcome: "accepted" | "invalid" | "duplicate";
  RecordReason: "no_phone" | "invalid_phone" | "not_indian" | "too_many_fields";
  RecordStatus: "accepted" | "invalid";
  RecordingReadyEvent: { id: string; type: "recording.ready"; createdAt: string; livemode: boolean; data: Schemas["CallData"] };
  RejectedRecord: { streamId: string; streamName: string; recordId: string; reason: Schemas["RecordReason"]; payload: Record<string, unknown>; receivedAt: string };
  Removed: { deleted: boolean };
  RemovedResponse: { data: Schemas["Removed"] };
  ReplayedDeliveries: { replayed: number; redacted: number; nextSince: string | null };
  ReplayedDeliveriesResponse: { data: Schemas["ReplayedDeliveries"] };
  RetryOn: "no_answer" | "busy";
  RevealedNumber: { number: string };
  RevealedNumberResponse: { data: Schemas["RevealedNumber"] };
  RevokedSessions: { revoked: number };
  RevokedSessionsResponse: { data: Schemas["RevokedSessions"] };
  Role: "viewer" | "editor" | "admin" | "owner";
  RowFailure: "missing_required_variables" | "invalid_variables" | "invalid_number" | "provider_error";
  SavedAnswer: { id: string; shortcut: string; text: string; changedBy: string; createdAt: string; updatedAt: string };
  SavedAnswerPage: { data: Array<Schemas["SavedAnswer"]>; nextCursor: string | null };
  SavedAnswerResponse: { data: Schemas["SavedAnswer"] };
  SavedFlow: { draftVersion: number; issues: Array<Schemas["FlowIssue"]> };
  SavedFlowResponse: { data: Schemas["SavedFlow"] };
  ScheduledCall: { id: string; agentId: string; status: Schemas["ScheduledCallStatus"]; scheduledAt: string; nextAttemptAt: string | null; attempts: number; callId: string | null; reason: string | null; toNumber: string; fromNumber: string | null; externalRef: string | null; variables: Record<string, unknown>; metadata: Record<string, unknown>; createdAt: string };
  ScheduledCallCancelledEvent: { id: string; type: "scheduled_call.cancelled"; createdAt: string; livemode: boolean; data: Schemas["ScheduledCall"] };
  ScheduledCallMade: { data: Schemas["ScheduledCall"]; warnings?: Array<Schemas["VariableWarning"]> };
  ScheduledCallPage: { data: Array<Schemas["ScheduledCall"]>; nextOffset: number | null };
  ScheduledCallResponse: { data: Schemas["ScheduledCall"] };
  ScheduledCallStatus: "scheduled" | "placed" | "failed" | "cancelled";
  SentChannelMessage: { messageId: string; providerMessageId: string | null; chatId: string | null; threadId: string; agentId: string | null; contactId: string; externalRef: string | null; direction: Schemas["MessageDirection"]; source: Schemas["MessageSource"]; type: string; text: string | null; template: Schemas["MessageTemplate"] | null; media: Schemas["MessageMedia"] | null; from: string | null; to: string | null; customerUserId: string | null; customerUsername: string | null; phoneNumberId: string; status: Schemas["MessageStatus"]; timestamp: string; statuses: Schemas["MessageStatuses"]; error: Schemas["MessageError"] | null; replyTo: string | null; reaction: Record<string, unknown> | null; interactive: Record<string, unknown> | null; location: Record<string, unknown> | null; content: Record<string, unknown> | null; livemode: boolean };
  SentChannelMessageResponse: { data: Schemas["SentChannelMessage"] };
  SentimentCount: { sentiment: string; count: number };
  SignIn: { email: string; password: string };
  SignInMethods: { password: boolean; openid: Schemas["OpenIdMethod"] | null };
  SignInMethodsResponse: { data: Schemas["SignInMethods"] };
  SignedInPerson: { id: string; email: string; name: string; language: Schemas["InterfaceLanguage"]; operator: boolean; memberships: Array<Schemas["Membership"]> };
  SignedInPersonResponse: { data: Schemas["SignedInPerson"] };
  Speaker: "agent" | "customer";
  StagedFinding: { harm: Schemas["StagedHarm"]; code: Schemas["StagedFindingCode"]; column: string | null; count: number; rows: Array<Schemas["StagedFindingRow"]>; until: string | null };
  StagedFindingCode: "missing_required_variables" | "invalid_phone" | "not_indian" | "duplicate" | "erased" | "dnd" | "opt_out" | "consent" | "number_series" | "calling_window" | "frequency_cap" | "caller_id_cap" | "date_day_first" | "date_month_first" | "number_with_exponent";
  StagedFindingRow: { row: number; phone: string | null; name: string | null; value: string | null; readAs: string | null };
  StagedHarm: "stops" | "never_dialled" | "skipped" | "waits" | "read_as";
  StagedList: { stagedListId: number; campaignId: string; total: number; valid: number; invalid: number; pieces: number; openedBy: string | null; openedAt: string | null; expiresAt: string };
  StagedListEdit: { phone?: string; name?: string | null; variables?: Record<string, string | null> };
  StagedListList: { data: Array<Schemas["StagedList"]> };
  StagedListPiece: { piece: number; contacts: Array<Schemas["NewCallingListRow"]> };
  StagedListPreflight: { stagedList: Schemas["StagedList"]; canApply: boolean; willCall: number; willWait: number; willNotCall: number; findings: Array<Schemas["StagedFinding"]>; firstMinuteDials: number; problems: Array<Schemas["PreflightProblem"]>; warnings: Array<Schemas["PreflightProblem"]>; schedule: Schemas["PreflightSchedule"]; cost: Schemas["PreflightCost"] };
  StagedListPreflightResponse: { data: Schemas["StagedListPreflight"] };
  StagedListResponse: { data: Schemas["StagedList"] };
  StagedListRow: { row: number; phone: string | null; name: string | null; variables: Record<string, string>; valid: boolean; invalidReason: Schemas["InvalidReason"] | null; findings: Array<Schemas["StagedRowFinding"]> };
  StagedListRowPage: { data: Array<Schemas["StagedListRow"]>; nextCursor: string | null };
  StagedListRowResponse: { data: Schemas["StagedListRow"] };
  StagedRowFinding: { harm: Schemas["StagedHarm"]; code: Schemas["StagedFindingCode"]; column: string | null; readAs: string | null };
  StartedConversation: { livemode: boolean; chatId: string; threadId: string; contactId: string; sentInSession: boolean; metadata: Record<string, unknown>; message: Schemas["StartedMessage"] };
  StartedConversationResponse: { data: Schemas["StartedConversation"] };
  StartedMessage: { id: string; providerMessageId: string | null; status: Schemas["MessageStatus"] };
  StreamAttachment: { campaignId: string; streamId: string; name: string; kind: Schemas["DataStreamKind"]; status: Schemas["DataStreamStatus"]; variableMapping: Record<string, unknown>; backfillDays: number; transliterate: boolean; attachedAt: string; backfilled: number };
  StreamAttachmentResponse: { data: Schemas["StreamAttachment"] };
  StreamRecord: { id: string; status: Schemas["RecordStatus"]; reason: Schemas["RecordReason"] | null; externalId: string | null; phone: string | null; name: string | null; payload: Record<string, unknown> | null; campaigns: Array<Schemas["RecordCampaign"]>; receivedAt: string };
  StreamRecordPage: { data: Array<Schemas["StreamRecord"]>; nextBefore: string | null };
  StreamRecordRejectedEvent: { id: string; type: "stream.record_rejected"; createdAt: string; livemode: boolean; data: Schemas["RejectedRecord"] };
  SweepFilters: { outcome?: string; onlyUngraded?: boolean };
  SweepPreview: { conversations: number; criteriaVersion: number; priceMinor: number; totalMinor: number; availableMinor: number; obstacle: string | null };
  SweepPreviewResponse: { data: Schemas["SweepPreview"] };
  SyncedTemplates: { added: number; updated: number; removed: number };
  SyncedTemplatesResponse: { data: Schemas["SyncedTemplates"] };
  TakenOver: "taken_over";
  TakenOverChat: { chatId: string; channel: Schemas["ChatChannel"]; agentId: string; contactId: string | null; externalRef: string | null; customer: Schemas["ConversationCustomer"] | null; businessNumber: string | null; origin: Schemas["ChatOrigin"]; linkedCallId: string | null; status: Schemas["ConversationStatus"]; endCause: Schemas["ChatEndCause"] | null; startedAt: string; endedAt: string | null; messageCount: number; language: Schemas["LanguageCode"]; handoff: Schemas["Handoff"] | null; isTest: boolean; metadata: Record<string, unknown>; adReferral: unknown; by: string; agentName: string | null; note: string | null; transcript?: Array<Schemas["TranscriptLine"]> };
  TakenOverConversation: { id: string; status: Schemas["TakenOver"]; alreadyTakenOver: boolean; livemode: boolean };
  TakenOverConversationResponse: { data: Schemas["TakenOverConversation"] };
  TeamMessage: { text: string; agentName?: string; sentAt?: string };
  Teammate: { userId: string; name: string };
  TemplateCategory: "MARKETING" | "UTILITY" | "AUTHENTICATION";
  TemplateComponent: Record<string, unknown>;
  TemplateParams: { body?: Array<string> | Record<string, string>; header?: Schemas["HeaderParam"]; buttons?: Array<Schemas["ButtonParam"]>; components?: Array<Schemas["TemplateComponent"]> };
  TemplateStatus: "PENDING" | "APPROVED" | "REJECTED" | "PAUSED" | "DISABLED" | "IN_APPEAL" | "PENDING_DELETION" | "DELETED" | "LIMIT_EXCEEDED" | "ARCHIVED";
  TemplateUse: { id?: string; name?: string; language?: string; params?: Schemas["TemplateParams"] };
  TestEvent: { endpointId: string | null; message: string };
  TestLink: { id: string; agentId: string; name: string; draft: boolean; createdBy: string; createdAt: string; expiresAt: string; chatsToday: number; messagesToday: number };
  TestLinkList: { data: Array<Schemas["TestLink"]> };
  TestedWebhook: { eventId: string; deliveryId: string };
  TestedWebhookResponse: { data: Schemas["TestedWebhook"] };
  Tool: { id: string; type: string; name: string; description: string };
  ToolList: { data: Array<Schemas["Tool"]> };
  TranscriptLine: { role: Schemas["ChatRole"]; text: string; failed?: boolean };
  TranscriptReadyEvent: { id: string; type: "transcript.ready"; createdAt: string; livemode: boolean; data: Schemas["CallData"] };
  TranscriptTurn: { speaker: string; text: string; start: number };
  TransferredCall: { callId: string; agentId: string | null; campaignId: string | null; contactId: string | null; externalRef: string | null; direction: Schemas["Direction"]; toNumber: string; fromNumber: string; answeredAt: string | null; answeredBy: Schemas["AnsweredBy"] | null; endedAt: string | null; durationSeconds: number | null; endCause: string | null; outcome: string | null; language: Schemas["LanguageCode"] | null; metadata: Record<string, unknown>; transferredTo: string; transferredAt: string | null };
  TriedEvaluation: { kind: Schemas["GradedConversation"]; chatId: string | null; callId: string | null; status: Schemas["EvaluationStatus"]; cause: Schemas["EvaluationCause"] | null; model: string | null; chargedMinor: number; results: Array<Schemas["EvaluationResult"]> };
  TriedEvaluationList: { data: Array<Schemas["TriedEvaluation"]> };
  TriggeredEvent: { eventId: string; deliveries: number };
  TriggeredEventResponse: { data: Schemas["TriggeredEvent"] };
  TrunkHealth: { name: string; carrier: string; healthy: boolean | null; registered: boolean | null; calls: number; channels: number };
  TryBack: { turn?: number; toStep?: string };
  TryEdge: { from: string | null; edge: string; to: string };
  TryEndCause: "agent_ended" | "caller_hangup" | "silence_timeout" | "transfer_handoff" | "model_unavailable" | "error";
  TrySaid: { stepId: string | null; text: string };
  TryStop: { code: Schemas["TryStopCode"]; stepId: string | null; path: string | null; message: string };
  TryStopCode: "no_start" | "missing_edge" | "unknown_step" | "endless_loop" | "too_many_requests" | "step_gone";
  TryToolCall: { stepId: string; toolId: string; arguments: Record<string, unknown>; result: unknown; failed: boolean; sample: boolean };
  TryToolResult: { toolId: string; value?: Record<string, unknown>; error?: string };
  TryTurn: { turn: number; heard: string | null; said: Array<Schemas["TrySaid"]>; edges: Array<Schemas["TryEdge"]>; toolCalls: Array<Schemas["TryToolCall"]> };
  TurnOfCall: { turn: number; role: Schemas["Speaker"]; text: string; start: number; end: number; heardUntil: number | null; reaction: Schemas["ReactionParts"] | null; tools: Array<Schemas["TurnTool"]>; captures: Array<string> };
  TurnTool: { tool: string; at: number; tookMs: number | null; ok: boolean | null };
  TurnsOfCall: { callId: string; providers: Schemas["ProvidersOfCall"]; turns: Array<Schemas["TurnOfCall"]> };
  TurnsOfCallResponse: { data: Schemas["TurnsOfCall"] };
  UndoCardMove: { moveId: string };
  UpdatedTemplate: { templateId: string; providerTemplateId: string; name: string; language: string; status: Schemas["TemplateStatus"]; category: Schemas["TemplateCategory"]; previousCategory: Schemas["TemplateCategory"] | null; pendingCategory: Schemas["TemplateCategory"] | null; qualityScore: string | null; event: string; reason: string | null };
  UploadedDocument: { documentId: string; status: Schemas["DocumentStatus"]; reasons: Array<string>; attempts: number; reply: string | null; ended: boolean; handedOff: boolean };
  UploadedDocumentResponse: { data: Schemas["UploadedDocument"] };
  UseSignInLink: { token: string; password?: string };
  UsualHour: { hour: number; calls: number; answered: number };
  UsualWeekday: { day: string; weeks: number; hours: Array<Schemas["UsualHour"]> };
  VariableWarning: { code: "variable_truncated" | "variables_over_limit"; field: string; message: string };
  Vertical: "general" | "collections" | "lending" | "financial_services" | "debt_recovery";
  Voice: { id: string; name: string; gender: "female" | "male" };
  Voices: { voices: Array<Schemas["Voice"]>; defaultVoice: string; languages: Array<Schemas["Language"]>; models: Schemas["KnownModels"] };
  VoicesResponse: { data: Schemas["Voices"] };
  Wallet: { balanceMinor: number; currency: string; costPerMinuteMinor: number };
  WalletLowEvent: { id: string; type: "wallet.low"; createdAt: string; livemode: boolean; data: Schemas["LowWallet"] };
  WalletResponse: { data: Schemas["Wallet"] };
  WalletTransaction: { id: string; kind: string; amountMinor: number; balanceAfterMinor: number; reference: string; createdAt: string };
  WantedStatus: "active" | "paused";
  WebhookEndpoint: { id: string; url: string; events: Array<Schemas["EventType"]>; agentIds: Array<string>; description: string | null; status: Schemas["WebhookStatus"]; createdAt: string; updatedAt: string };
  WebhookEndpointChange: { url?: string; events?: Array<Schemas["EventType"]>; agentIds?: Array<string>; description?: string | null; status?: Schemas["WebhookStatus"] };
  WebhookEndpointPage: { data: Array<Schemas["WebhookEndpoint"]>; nextCursor: string | null };
  WebhookEndpointResponse: { data: Schemas["WebhookEndpoint"] };
  WebhookSecret: { id: string; secret: string };
  WebhookSecretResponse: { data: Schemas["WebhookSecret"] };
  WebhookStatus: "active" | "disabled";
  WebhookTest: { type?: Schemas["EventType"] };
  WebhookTestEvent: { id: string; type: "webhook.test"; createdAt: string; livemode: boolean; data: Schemas["TestEvent"] };
  WithAgent: "with_agent";
  WorkflowTemplate: "collections" | "onboarding" | "prompt-driven";
  Workspace: { id: string; name: string; kybVerified: boolean; suspended: boolean; balanceMinor: number; reservedMinor: number; currency: string; costPerMinuteMinor: number; costPerChatMinor: number; costPerEvaluationMinor: number; lowBalanceMinor: number | null; marketingOptInRule: boolean; regulatedAs: Schemas["EntityClass"]; dltEntityId: string | null; features: Schemas["WorkspaceFeatures"]; limits: Schemas["WorkspaceLimits"]; createdAt: string };
  WorkspaceFeatures: { analytics?: boolean; boards?: boolean; knowledge?: boolean; crmIntegrations?: boolean; chat?: boolean; chatappChannel?: boolean; chatappAgents?: boolean; chatappCampaigns?: boolean; fullTranscript?: boolean; recording?: boolean; evaluation?: boolean };
  WorkspaceLimits: { requestsPerMinute?: number; memberRequestsPerMinute?: number; callsPerMinute?: number; campaignWritesPerMinute?: number; nudgesPerMinute?: number; chatMessagesPerMinute?: number; chatSessionsPerMinute?: number; channelMessagesPerMinute?: number; handOversPerMinute?: number; flowTriesPerMinute?: number; pendingNudges?: number; concurrentCalls?: number };
  WorkspaceMember: { id: string; email: string; name: string; role: Schemas["Role"]; createdAt: string };
  WorkspaceMemberList: { data: Array<Schemas["WorkspaceMember"]> };
  WorkspaceMemberResponse: { data: Schemas["WorkspaceMember"] };
  WorkspaceResponse: { data: Schemas["Workspace"] };
  AcceptLog: { reason: string };
  AcceptedChain: { chain: Schemas["LogStrand"]; witnessedSeq: number; seq: number };
  AcceptedLog: { accepted: Array<Schemas["AcceptedChain"]> };
  AcceptedLogResponse: { data: Schemas["AcceptedLog"] };
  AgentHours: { agentId: string; businessHours: Schemas["BusinessHours"] | null };
  AgentHoursResponse: { data: Schemas["AgentHours"] };
  AgentLock: { id: string; locked: boolean };
  AgentLockResponse: { data: Schemas["AgentLock"] };
  ApiKey: { id: string; name: string; mode: Schemas["KeyMode"]; scopes: Array<string>; prefix: string; expiresAt: string | null; revokedAt: string | null; createdAt: string; previousValidUntil: string | null; lastUsedAt: string | null; key?: string; cancelled?: Schemas["CancelledWork"] };
  ApiKeyList: { data: Array<Schemas["ApiKey"]> };
  ApiKeyResponse: { data: Schemas["ApiKey"] };
  BoardActionStatus: "pending" | "done" | "failed" | "skipped";
  BoardActionType: "opt_out" | "do_not_call" | "nudge" | "add_to_campaign" | "message" | "event";
  BoardAutomation: { type: Schemas["BoardActionType"]; agentId?: string; delayMinutes?: number; campaignId?: string; reason?: string; templateId?: string; paramMapping?: Record<string, Schemas["CampaignParam"]> };
  BoardAutomationInput: { type: Schemas["BoardActionType"]; agentId?: string; delayMinutes?: number; campaignId?: string; reason?: string; templateId?: string; paramMapping?: Record<string, Schemas["CampaignParamInput"]> };
  BoardChange: { columns: Array<Schemas["ColumnChange"]>; moveCards?: Array<Schemas["CardsMove"]>; reviewBelow?: number; version?: number };
  BoardCondition: { variable: string; op?: "eq" | "ne" | "lt" | "gt" | "in" | "exists"; value?: unknown };
  BoardConditionInput: { variable: string; op?: "eq" | "ne" | "lt" | "gt" | "in" | "exists"; value?: unknown };
  BoardRule: { all: Array<Schemas["BoardCondition"]> };
  BoardRuleInput: { all: Array<Schemas["BoardConditionInput"]> };
  BoardSettings: { id: string; campaignId: string | null; agentId: string | null; reviewBelow: number; version: number; columns: Array<Schemas["ColumnSettings"]>; createdAt: string };
  BoardSettingsResponse: { data: Schemas["BoardSettings"] };
  BoundChannelNumber: { id: string; phoneNumberId: string; number: string; displayName: string; quality: string | null; messagingTier: string | null; status: string; isDefault: boolean; agentId: string | null };
  BoundChannelNumberList: { data: Array<Schemas["BoundChannelNumber"]> };
  BoundChannelNumberResponse: { data: Schemas["BoundChannelNumber"] };
  BusinessHours: { timezone: string; hours: Array<Schemas["OpenHours"]> };
  CampaignPlace: { id: string; workspaceId: string; name: string; status: Schemas["CampaignStatus"] };
  CampaignPlaceResponse: { data: Schemas["CampaignPlace"] };
  CancelledWork: { nudges: number; scheduledCalls: number };
  CardAction: { moveId: string; columnId: string; type: Schemas["BoardActionType"]; status: Schemas["BoardActionStatus"]; error: string | null; attempts: number; dueAt: string | null; movedAt: string; finishedAt: string | null };
  CardDetail: { id: string; contactId: string; contactName: string | null; contactPhone: string | null; columnId: string; status: Schemas["CardStatus"]; confidence: number | null; suggestedColumnId: string | null; lastCallId: string | null; lastCallAt: string | null; lastSummary: string | null; attentionReason: Schemas["CardAttention"] | null; enteredColumnAt: string; lastMoveId: string | null; undoUntil?: string; automations: Array<Schemas["CardAction"]> };
  CardDetailResponse: { data: Schemas["CardDetail"] };
  CardsMove: { from: string; to: string };
  ChannelConnection: { id: string; provider: Schemas["ChannelProvider"]; status: Schemas["ChannelConnectionStatus"]; lastError: string | null; businessAccountId: string; appId: string | null; webhookUrl: string; messagingTier: string | null; restriction: string | null; createdAt: string; updatedAt: string };
  ChannelConnectionResponse: { data: Schemas["ChannelConnection"] };
  ChannelConnectionStatus: "connected" | "token_invalid";
  ChannelProvider: "cloud" | "sandbox";
  ChatLabelList: { data: Array<Schemas["ChatLabel"]> };
  ChatLabelResponse: { data: Schemas["ChatLabel"] };
  ChatLabels: { labelIds: Array<string> };
  ChatTakeover: { userId: string };
  ColumnChange: { id?: string; name: string; key: string; type: Schemas["ColumnType"]; color?: Schemas["ColumnColor"] | null; rules?: Array<Schemas["BoardRuleInput"]>; automations?: Array<Schemas["BoardAutomationInput"]> };
  ColumnSettings: { id: string; name: string; key: string; type: Schemas["ColumnType"]; color: Schemas["ColumnColor"] | null; count: number; rules: Array<Schemas["BoardRule"]>; automations: Array<Schemas["BoardAutomation"]> };
  CompliancePack: { id: string; name: string; hours: Array<Schemas["PackHours"]>; holidays?: Array<string>; caps?: Schemas["PackCaps"]; requireConsent?: boolean; families?: Array<string>; numberSeries?: Array<Schemas["PackSeriesRule"]>; dlt?: Schemas["PackDlt"] | null; disclosure?: Schemas["PackDisclosure"] | null; createdAt: string };
  CompliancePackList: { data: Array<Schemas["CompliancePack"]> };
  CompliancePackResponse: { data: Schemas["CompliancePack"] };
  DndImport: { importId: number };
  DndImportPiece: { phones: Array<string> };
  DndImportResponse: { data: Schemas["DndImport"] };
  DndImported: { added: number; repeated: number; invalid: Array<number> };
  DndImportedResponse: { data: Schemas["DndImported"] };
  DocumentReview: { status: "verified" | "rejected"; reasons?: Array<string> };
  InboxChat: { id: string; agentId: string; channel: Schemas["ChatChannel"]; state: Schemas["ChatState"]; handoffReason: string | null; handoffAt: string | null; userId: string | null; messageCount: number; endCause: Schemas["ChatEndCause"] | null; createdAt: string; lastMessageAt: string; endedAt: string | null };
  InboxChatDetail: { id: string; agentId: string; channel: Schemas["ChatChannel"]; state: Schemas["ChatState"]; handoffReason: string | null; handoffAt: string | null; userId: string | null; messageCount: number; endCause: Schemas["ChatEndCause"] | null; createdAt: string; lastMessageAt: string; endedAt: string | null; messages: Array<Schemas["ChatMessage"]>; flowVersion: number | null; summary: string | null; outcome: string | null; sentiment: string | null; extracted: Record<string, unknown> | null };
  InboxChatDetailResponse: { data: Schemas["InboxChatDetail"] };
  InboxChatPage: { data: Array<Schemas["InboxChat"]>; nextCursor: string | null };
  InboxChatResponse: { data: Schemas["InboxChat"] };
  Integration: { id: string; provider: Schemas["IntegrationProvider"]; status: Schemas["IntegrationStatus"]; lastError: string | null; push: Schemas["IntegrationPush"] | null; createdAt: string };
  IntegrationChange: { credentials?: Schemas["IntegrationCredentials"]; push?: Schemas["IntegrationPushInput"] | null };
  IntegrationCredentials: { shop?: string; clientId?: string; clientSecret?: string; refreshToken?: string; accessToken?: string };
  IntegrationList: { data: Array<Schemas["Integration"]> };
  IntegrationProvider: "hubspot" | "salesforce" | "zoho" | "shopify" | "google_sheets";
  IntegrationPush: { calls?: Schemas["PushedCalls"] };
  IntegrationPushInput: { calls?: Schemas["PushedCalls"] };
  IntegrationResponse: { data: Schemas["Integration"] };
  IntegrationStatus: "active" | "broken";
  KeyMode: "live" | "test";
  ListImport: { importId: number; campaignId: string; total: number; valid: number; invalid: number };
  ListImportPiece: { after: number; contacts: Array<Schemas["NewCallingListRow"]> };
  ListImportResponse: { data: Schemas["ListImport"] };
  Member: { id: string; email: string; name: string; role: string; createdAt: string };
  MemberList: { data: Array<Schemas["Member"]> };
  MemberResponse: { data: Schemas["Member"] };
  NewApiKey: { name: string; mode: Schemas["KeyMode"]; scopes: "all" | Array<string>; expiresAt?: string | null };
  NewChannelConnection: { provider: Schemas["ChannelProvider"]; businessAccountId?: string; appId?: string; accessToken?: string; appSecret?: string; verifyToken?: string };
  NewChannelNumber: { number?: string; displayName?: string; phoneNumberId?: string; agentId?: string | null; isDefault?: boolean };
  NewChatLabel: { name: string; color: string };
  NewCompliancePack: { name: string; hours: Array<Schemas["PackHours"]>; holidays?: Array<string>; caps?: Schemas["PackCaps"]; requireConsent?: boolean; families?: Array<string>; numberSeries?: Array<Schemas["PackSeriesRuleInput"]>; dlt?: Schemas["PackDlt"] | null; disclosure?: Schemas["PackDisclosureInput"] | null };
  NewDndNumbers: { phones: Array<string> };
  NewIntegration: { provider: Schemas["IntegrationProvider"]; credentials: Schemas["IntegrationCredentials"]; push?: Schemas["IntegrationPushInput"] | null };
  NewMember: { email: string; name: string; role: "owner" | "admin" | "editor" | "viewer"; password?: string };
  NewNumber: { number: string; carrier?: string };
  NewSignInLink: { email: string; name?: string; operator?: boolean; workspaceId?: string; role?: Schemas["Role"] };
  NewTool: { type: "webhook" | "mcp"; name: string; description?: string; config: Schemas["WebhookConfig"] };
  NewTransferNumber: { number: string };
  NewWalletEntry: { kind: "topup" | "adjustment"; amountMinor: number; reference: string };
  NewWorkspace: { name: string; kybVerified?: boolean; balanceMinor?: number; currency?: string; costPerMinuteMinor?: number };
  Node: { name: string; status: Schemas["NodeStatus"]; since: string; callsHeld: number };
  NodeResponse: { data: Schemas["Node"] };
  NodeStatus: "in_service" | "draining" | "stopping";
  NumberUpdate: { carrier: string | null };
  OpenHours: { days: Array<number>; from: string; to: string };
  OperatorLogEntry: { id: string; at: string; operation: string; workspaceId: string | null; subject: string; requestId: string };
  OperatorLogEntryPage: { data: Array<Schemas["OperatorLogEntry"]>; nextCursor: string | null };
  PackCaps: { perDay?: number | null; perWeek?: number | null };
  PackDisclosure: { withinSeconds: number; texts: Array<Schemas["PackDisclosureText"]>; source?: string };
  PackDisclosureInput: { withinSeconds: number; texts: Array<Schemas["PackDisclosureTextInput"]>; source?: string };
  PackDisclosureText: { language: Schemas["LanguageCode"]; text: string };
  PackDisclosureTextInput: { language: Schemas["LanguageCode"]; text: string };
  PackDlt: { minDigits?: number; maxDigits?: number };
  PackHours: { days: Array<number>; from: string; to: string };
  PackSeriesRule: { series: Schemas["NumberSeries"]; communications?: Array<Schemas["Communication"]>; verticals?: Array<Schemas["Vertical"]>; entities?: Array<Schemas["EntityClass"]>; warnFrom?: string | null; since?: string | null; refuses?: boolean; source?: string };
  PackSeriesRuleInput: { series: Schemas["NumberSeries"]; communications?: Array<Schemas["Communication"]>; verticals?: Array<Schemas["Vertical"]>; entities?: Array<Schemas["EntityClass"]>; warnFrom?: string | null; since?: string | null; refuses?: boolean; source?: string };
  PushedCalls: "answered" | "all";
  ReceivedDocumentPage: { data: Array<Schemas["ReceivedDocument"]>; nextCursor: string | null };
  ReceivedDocumentResponse: { data: Schemas["ReceivedDocument"] };
  RotateKey: { graceHours?: number };
  SignInLink: { personId: string; url: string; expiresAt: string };
  SignInLinkResponse: { data: Schemas["SignInLink"] };
  ToolResponse: { data: Schemas["Tool"] };
  TransferNumber: { number: string; createdAt: string };
  TransferNumberList: { data: Array<Schemas["TransferNumber"]> };
  TransferNumberResponse: { data: Schemas["TransferNumber"] };
  WalletTransactionResponse: { data: Schemas["WalletTransaction"] };
  WebhookConfig: { url: string; tool?: string | null; method?: "GET" | "POST" | "PUT" | "PATCH"; headers?: Record<string, string>; parameters?: Record<string, unknown>; timeoutSeconds?: number; idempotent?: boolean };
  WorkspaceChange: { name?: string; kybVerified?: boolean; suspended?: boolean; features?: Schemas["WorkspaceFeatures"]; limits?: Schemas["WorkspaceLimits"]; costPerMinuteMinor?: number; costPerChatMinor?: number; costPerEvaluationMinor?: number; lowBalanceMinor?: number | null; marketingOptInRule?: boolean; regulatedAs?: Schemas["EntityClass"]; dltEntityId?: string | null };
  WorkspacePage: { data: Array<Schemas["Workspace"]>; nextCursor: string | null };
}

export interface Operations {
  getAccount: { path: none; query: none; body: none; answer: Schemas["AccountResponse"] };
  getOwnWorkspace: { path: none; query: none; body: none; answer: Schemas["WorkspaceResponse"] };
  updateOwnWorkspace: { path: none; query: none; body: Schemas["OwnWorkspaceChange"]; answer: Schemas["WorkspaceResponse"] };
  listAgents: { path: none; query: none; body: none; answer: Schemas["AgentList"] };
  createAgent: { path: none; query: none; body: Schemas["NewAgent"]; answer: Schemas["AgentDetailResponse"] };
  getAgent: { path: { id: string }; query: none; body: none; answer: Schemas["AgentDetailResponse"] };
  updateAgent: { path: { id: string }; query: none; body: Schemas["AgentChange"]; answer: Schemas["AgentDetailResponse"] };
  deleteAgent: { path: { id: string }; query: none; body: none; answer: Schemas["DeletedResponse"] };
  setAgentStatus: { path: { id: string }; query: none; body: Schemas["AgentStatusChange"]; answer: Schemas["AgentDetailResponse"] };
  getFlow: { path: { id: string }; query: none; body: none; answer: Schemas["FlowResponse"] };
  saveFlow: { path: { id: string }; query: none; body: Schemas["FlowEdit"]; answer: Schemas["SavedFlowResponse"] };
  publishFlow: { path: { id: string }; query: none; body: Schemas["FlowPublication"]; answer: Schemas["FlowResponse"] };
  listVoices: { path: none; query: none; body: none; answer: Schemas["VoicesResponse"] };
  listFlowVersions: { path: { id: string }; query: { limit?: number; cursor?: string }; body: none; answer: Schemas["FlowVersionPage"] };
  getFlowVersion: { path: { id: string; number: string }; query: none; body: none; answer: Schemas["FlowVersionDetailResponse"] };
  compareFlowVersions: { path: { id: string; number: string }; query: { to?: string }; body: none; answer: Schemas["FlowDiffResponse"] };
  restoreFlowVersion: { path: { id: string; number: string }; query: none; body: Schemas["FlowRestore"]; answer: Schemas["SavedFlowResponse"] };
  getFlowVisits: { path: { id: string }; query: { version?: number; days?: number }; body: none; answer: Schemas["FlowVisitsResponse"] };
  setFlowPresence: { path: { id: string }; query: none; body: Schemas["FlowPresence"]; answer: Schemas["FlowEditorsResponse"] };
  tryFlow: { path: { id: string }; query: none; body: Schemas["NewFlowTry"]; answer: Schemas["FlowTryViewResponse"] };
  getFlowTry: { path: { id: string; try: string }; query: none; body: none; answer: Schemas["FlowTryViewResponse"] };
  endFlowTry: { path: { id: string; try: string }; query: none; body: none; answer: Schemas["DeletedResponse"] };
  sendTryMessage: { path: { id: string; try: string }; query: none; body: Schemas["NewTryMessage"]; answer: Schemas["FlowTryViewResponse"] };
  goBackInTry: { path: { id: string; try: string }; query: none; body: Schemas["TryBack"]; answer: Schemas["FlowTryViewResponse"] };
  createTestLink: { path: { id: string }; query: none; body: Schemas["NewTestLink"]; answer: Schemas["MadeTestLinkResponse"] };
  listTestLinks: { path: { id: string }; query: none; body: none; answer: Schemas["TestLinkList"] };
  revokeTestLink: { path: { id: string; link: string }; query: none; body: none; answer: Schemas["DeletedResponse"] };
  listTools: { path: none; query: none; body: none; answer: Schemas["ToolList"] };
  placeCall: { path: none; query: none; body: Schemas["NewCall"]; answer: Schemas["PlacedCall"] };
  listCalls: { path: none; query: { limit?: number; cursor?: string; state?: Schemas["CallState"]; agentId?: string; campaignId?: string; contactId?: string; direction?: Schemas["Direction"]; from?: string; to?: string; status?: string; outcome?: string; endCause?: string; number?: string; q?: string }; body: none; answer: Schemas["CallPage"] };
  countCalls: { path: none; query: { state?: Schemas["CallState"]; agentId?: string; campaignId?: string; contactId?: string; direction?: Schemas["Direction"]; from?: string; to?: string; status?: string; outcome?: string; endCause?: string; number?: string; q?: string }; body: none; answer: Schemas["CallCountsResponse"] };
  getCallTurns: { path: { id: string }; query: none; body: none; answer: Schemas["TurnsOfCallResponse"] };
  getCallPeaks: { path: { id: string }; query: none; body: none; answer: Schemas["PeaksOfCallResponse"] };
  getCall: { path: { id: string }; query: none; body: none; answer: Schemas["CallDetailResponse"] };
  hangUpCall: { path: { id: string }; query: none; body: none; answer: Schemas["EndingCallResponse"] };
  listLiveCalls: { path: none; query: { limit?: number; cursor?: string }; body: none; answer: Schemas["LiveCallPage"] };
  search: { path: none; query: { q: string }; body: none; answer: Schemas["FoundItemList"] };
  getRecording: { path: { id: string }; query: { expires: number; signature: string }; body: none; answer: undefined };
  scheduleCall: { path: none; query: none; body: Schemas["NewScheduledCall"]; answer: Schemas["ScheduledCallMade"] };
  listScheduledCalls: { path: none; query: { status?: Schemas["ScheduledCallStatus"]; limit?: number; offset?: number }; body: none; answer: Schemas["ScheduledCallPage"] };
  getScheduledCall: { path: { id: string }; query: none; body: none; answer: Schemas["ScheduledCallResponse"] };
  cancelScheduledCall: { path: { id: string }; query: none; body: none; answer: Schemas["ScheduledCallResponse"] };
  getScheduledCallTimeline: { path: { id: string }; query: none; body: none; answer: Schemas["CallTimelineEntryList"] };
  getCallTimeline: { path: { id: string }; query: none; body: none; answer: Schemas["CallTimelineEntryList"] };
  createNudge: { path: none; query: none; body: Schemas["NewNudge"]; answer: Schemas["NudgeResponse"] };
  listNudges: { path: none; query: { status?: Schemas["NudgeStatus"]; result?: Schemas["NudgeResult"]; agentId?: string; externalRef?: string; toNumber?: string; createdAfter?: string; createdBefore?: string; limit?: number; cursor?: string }; body: none; answer: Schemas["NudgePage"] };
  cancelNudges: { path: none; query: none; body: Schemas["NudgeCancellation"]; answer: Schemas["CancelledNudgesResponse"] };
  preflightNudge: { path: none; query: none; body: Schemas["NudgePreflight"]; answer: Schemas["NudgeForecastResponse"] };
  getNudge: { path: { id: string }; query: none; body: none; answer: Schemas["NudgeDetailResponse"] };
  cancelNudge: { path: { id: string }; query: none; body: none; answer: Schemas["NudgeResponse"] };
  getNudgeTimeline: { path: { id: string }; query: none; body: none; answer: Schemas["NudgeTimelineEntryList"] };
  listCampaigns: { path: none; query: none; body: none; answer: Schemas["CampaignList"] };
  createCampaign: { path: none; query: none; body: Schemas["NewCampaign"]; answer: Schemas["CampaignResponse"] };
  getCampaign: { path: { id: string }; query: none; body: none; answer: Schemas["CampaignResponse"] };
  updateCampaign: { path: { id: string }; query: none; body: Schemas["CampaignChange"]; answer: Schemas["CampaignResponse"] };
  deleteCampaign: { path: { id: string }; query: none; body: none; answer: Schemas["DeletedResponse"] };
  setCampaignStatus: { path: { id: string }; query: none; body: Schemas["CampaignStatusChange"]; answer: Schemas["CampaignResponse"] };
  setCampaignContacts: { path: { id: string }; query: none; body: Schemas["NewCallingList"]; answer: Schemas["CallingListResponse"] };
  listCampaignContacts: { path: { id: string }; query: { state?: "all" | "reached" | "in_progress" | "unreached" | "held" | "queued" | "invalid" | "dnc"; q?: string; limit?: number; offset?: number }; body: none; answer: Schemas["CallingListPage"] };
  runCampaign: { path: { id: string }; query: none; body: none; answer: Schemas["CampaignRunStartedResponse"] };
  listCampaignRuns: { path: { id: string }; query: { limit?: number; offset?: number }; body: none; answer: Schemas["CampaignRunList"] };
  getCampaignRun: { path: { id: string }; query: none; body: none; answer: Schemas["CampaignRunResponse"] };
  getCampaignSummary: { path: { id: string }; query: none; body: none; answer: Schemas["CampaignSummaryResponse"] };
  preflightCampaign: { path: { id: string }; query: none; body: none; answer: Schemas["CampaignPreflightResponse"] };
  preflightNudges: { path: none; query: none; body: Schemas["NudgeBatchPreflight"]; answer: Schemas["PreflightResponse"] };
  openStagedList: { path: { id: string }; query: none; body: none; answer: Schemas["StagedListResponse"] };
  listStagedLists: { path: { id: string }; query: none; body: none; answer: Schemas["StagedListList"] };
  addStagedRows: { path: { id: string; list: string }; query: none; body: Schemas["StagedListPiece"]; answer: Schemas["StagedListResponse"] };
  listStagedRows: { path: { id: string; list: string }; query: { finding?: "missing_required_variables" | "invalid_phone" | "not_indian" | "duplicate" | "erased" | "dnd" | "opt_out" | "consent" | "number_series" | "calling_window" | "frequency_cap" | "caller_id_cap" | "date_day_first" | "date_month_first" | "number_with_exponent"; column?: string; limit?: number; cursor?: string }; body: none; answer: Schemas["StagedListRowPage"] };
  preflightStagedList: { path: { id: string; list: string }; query: none; body: none; answer: Schemas["StagedListPreflightResponse"] };
  editStagedRow: { path: { id: string; list: string; row: string }; query: none; body: Schemas["StagedListEdit"]; answer: Schemas["StagedListRowResponse"] };
  exportStagedFindings: { path: { id: string; list: string }; query: none; body: none; answer: undefined };
  applyStagedList: { path: { id: string; list: string }; query: none; body: Schemas["ApplyStagedList"]; answer: Schemas["CallingListResponse"] };
  deleteStagedList: { path: { id: string; list: string }; query: none; body: none; answer: Schemas["RemovedResponse"] };
  getCampaignBoard: { path: { id: string }; query: none; body: none; answer: Schemas["BoardResponse"] };
  getAgentBoard: { path: { id: string }; query: none; body: none; answer: Schemas["BoardResponse"] };
  listCampaignCards: { path: { id: string }; query: { column?: string; limit?: number; cursor?: string }; body: none; answer: Schemas["CardPage"] };
  listAgentCards: { path: { id: string }; query: { column?: string; limit?: number; cursor?: string }; body: none; answer: Schemas["CardPage"] };
  moveCampaignCard: { path: { id: string; cardId: string }; query: none; body: Schemas["CardMove"]; answer: Schemas["CardResponse"] };
  moveAgentCard: { path: { id: string; cardId: string }; query: none; body: Schemas["CardMove"]; answer: Schemas["CardResponse"] };
  getCampaignCardHistory: { path: { id: string; cardId: string }; query: { limit?: number; cursor?: string }; body: none; answer: Schemas["CardMovedPage"] };
  getAgentCardHistory: { path: { id: string; cardId: string }; query: { limit?: number; cursor?: string }; body: none; answer: Schemas["CardMovedPage"] };
  undoCampaignCardMove: { path: { id: string; cardId: string }; query: none; body: Schemas["UndoCardMove"]; answer: Schemas["CardResponse"] };
  undoAgentCardMove: { path: { id: string; cardId: string }; query: none; body: Schemas["UndoCardMove"]; answer: Schemas["CardResponse"] };
  addKnowledgeLink: { path: { id: string }; query: none; body: Schemas["NewKnowledgeLink"]; answer: Schemas["AddedSourceResponse"] };
  getCallAnalytics: { path: none; query: { from?: string; to?: string; agentId?: string; campaignId?: string; groupBy?: "hour" }; body: none; answer: Schemas["CallAnalyticsResponse"] };
  listContacts: { path: none; query: { limit?: number; cursor?: string }; body: none; answer: Schemas["ContactPage"] };
  upsertContact: { path: none; query: none; body: Schemas["NewContact"]; answer: Schemas["ContactResponse"] };
  getContact: { path: { id: string }; query: none; body: none; answer: Schemas["ContactDetailResponse"] };
  updateContact: { path: { id: string }; query: none; body: Schemas["ContactChange"]; answer: Schemas["ContactResponse"] };
  deleteContact: { path: { id: string }; query: none; body: none; answer: Schemas["DeletedResponse"] };
  upsertContacts: { path: none; query: none; body: Schemas["ContactBatch"]; answer: Schemas["ContactBatchResultResponse"] };
  eraseContact: { path: { id: string }; query: none; body: none; answer: Schemas["ErasureResponse"] };
  openChatSession: { path: none; query: none; body: Schemas["NewChatSession"]; answer: Schemas["OpenedChatSessionResponse"] };
  sendChatMessage: { path: { id: string }; query: none; body: Schemas["NewChatMessage"]; answer: Schemas["ChatReplyResponse"] };
  getChatSession: { path: { id: string }; query: none; body: none; answer: Schemas["ChatSessionResponse"] };
  endChatSession: { path: { id: string }; query: none; body: none; answer: Schemas["ChatSessionResponse"] };
  listInbox: { path: none; query: { view?: "waiting" | "mine" | "open" | "ended"; limit?: number; cursor?: string }; body: none; answer: Schemas["InboxEntryPage"] };
  countInbox: { path: none; query: none; body: none; answer: Schemas["InboxCountsResponse"] };
  listInboxTeam: { path: none; query: { limit?: number; cursor?: string }; body: none; answer: Schemas["InboxMemberPage"] };
  setInboxCeiling: { path: { id: string }; query: none; body: Schemas["InboxCeiling"]; answer: Schemas["InboxMemberResponse"] };
  setInboxAvailability: { path: none; query: none; body: Schemas["InboxAvailability"]; answer: Schemas["InboxMemberResponse"] };
  getInboxSettings: { path: none; query: none; body: none; answer: Schemas["InboxSettingsResponse"] };
  setInboxSettings: { path: none; query: none; body: Schemas["InboxSettingsChange"]; answer: Schemas["InboxSettingsResponse"] };
  getInboxChat: { path: { id: string }; query: none; body: none; answer: Schemas["InboxEntryDetailResponse"] };
  takeInboxChat: { path: { id: string }; query: none; body: none; answer: Schemas["InboxEntryResponse"] };
  assignInboxChat: { path: { id: string }; query: none; body: Schemas["InboxAssignee"]; answer: Schemas["InboxEntryResponse"] };
  writeInboxMessage: { path: { id: string }; query: none; body: Schemas["NewTeammateMessage"]; answer: Schemas["InboxEntryResponse"] };
  handInboxChatBack: { path: { id: string }; query: none; body: none; answer: Schemas["InboxEntryResponse"] };
  endInboxChat: { path: { id: string }; query: none; body: none; answer: Schemas["InboxEntryResponse"] };
  markInboxChatRead: { path: { id: string }; query: none; body: Schemas["InboxRead"]; answer: Schemas["InboxEntryResponse"] };
  listChatNotes: { path: { id: string }; query: { limit?: number; cursor?: string }; body: none; answer: Schemas["ChatNotePage"] };
  createChatNote: { path: { id: string }; query: none; body: Schemas["NewChatNote"]; answer: Schemas["ChatNoteResponse"] };
  listSavedAnswers: { path: none; query: { limit?: number; cursor?: string }; body: none; answer: Schemas["SavedAnswerPage"] };
  createSavedAnswer: { path: none; query: none; body: Schemas["NewSavedAnswer"]; answer: Schemas["SavedAnswerResponse"] };
  updateSavedAnswer: { path: { id: string }; query: none; body: Schemas["NewSavedAnswer"]; answer: Schemas["SavedAnswerResponse"] };
  deleteSavedAnswer: { path: { id: string }; query: none; body: none; answer: Schemas["DeletedResponse"] };
  listChannelNumbers: { path: none; query: none; body: none; answer: Schemas["ChannelNumberList"] };
  startConversation: { path: none; query: none; body: Schemas["NewConversation"]; answer: Schemas["StartedConversationResponse"] };
  listConversations: { path: none; query: { agentId?: string; phoneNumberId?: string; contactId?: string; customer?: string; status?: "active" | "ended"; endCause?: "completed" | "idle_timeout" | "max_duration" | "agent_ended" | "human_ended" | "opted_out" | "no_reply" | "erased" | "abandoned" | "template_failed" | "ai_unavailable"; origin?: "inbound" | "template_start" | "call_followup" | "campaign" | "ai_unavailable"; startedAfter?: string; startedBefore?: string; includeTest?: "true" | "false"; limit?: number; cursor?: string }; body: none; answer: Schemas["ConversationPage"] };
  getConversation: { path: { id: string }; query: { include?: string }; body: none; answer: Schemas["ConversationResponse"] };
  endConversation: { path: { id: string }; query: none; body: none; answer: Schemas["EndedConversationResponse"] };
  takeConversationOver: { path: { id: string }; query: none; body: Schemas["ConversationTakeover"]; answer: Schemas["TakenOverConversationResponse"] };
  handConversationBack: { path: { id: string }; query: none; body: Schemas["ConversationHandback"]; answer: Schemas["HandedBackConversationResponse"] };
  assignConversation: { path: { id: string }; query: none; body: Schemas["ConversationAssignment"]; answer: Schemas["AssignedConversationResponse"] };
  listAssignees: { path: none; query: none; body: none; answer: Schemas["AssigneeList"] };
  sendChannelMessage: { path: none; query: none; body: Schemas["NewChannelMessage"]; answer: Schemas["SentChannelMessageResponse"] };
  listChannelMessages: { path: none; query: { contactId?: string; chatId?: string; templateName?: string; phoneNumberId?: string; direction?: "outbound" | "inbound"; status?: "queued" | "sent" | "delivered" | "read" | "failed" | "delivery_unknown" | "received" | "deleted"; limit?: number; cursor?: string }; body: none; answer: Schemas["ChannelMessagePage"] };
  getChannelMessage: { path: { id: string }; query: none; body: none; answer: Schemas["ChannelMessageResponse"] };
  getChannelMessageMedia: { path: { id: string }; query: none; body: none; answer: undefined };
  listChannelTemplates: { path: none; query: { name?: string; status?: "PENDING" | "APPROVED" | "REJECTED" | "PAUSED" | "DISABLED" | "IN_APPEAL" | "PENDING_DELETION" | "DELETED" | "LIMIT_EXCEEDED" | "ARCHIVED"; limit?: number; cursor?: string }; body: none; answer: Schemas["ChannelTemplatePage"] };
  createChannelTemplate: { path: none; query: none; body: Schemas["NewChannelTemplate"]; answer: Schemas["ChannelTemplateResponse"] };
  syncChannelTemplates: { path: none; query: none; body: none; answer: Schemas["SyncedTemplatesResponse"] };
  uploadHeaderSample: { path: none; query: none; body: FormData; answer: Schemas["HeaderSampleResponse"] };
  getChannelTemplate: { path: { id: string }; query: none; body: none; answer: Schemas["ChannelTemplateResponse"] };
  updateChannelTemplate: { path: { id: string }; query: none; body: Schemas["ChannelTemplateChange"]; answer: Schemas["ChannelTemplateResponse"] };
  deleteChannelTemplate: { path: { id: string }; query: none; body: none; answer: Schemas["DeletedResponse"] };
  uploadDocument: { path: { id: string }; query: none; body: FormData; answer: Schemas["UploadedDocumentResponse"] };
  getAgentEvaluation: { path: { id: string }; query: { version?: number }; body: none; answer: Schemas["AgentEvaluationResponse"] };
  setAgentEvaluation: { path: { id: string }; query: none; body: Schemas["NewAgentEvaluation"]; answer: Schemas["AgentEvaluationResponse"] };
  tryEvaluation: { path: { id: string }; query: none; body: Schemas["EvaluationTrial"]; answer: Schemas["TriedEvaluationList"] };
  evaluateChat: { path: { id: string }; query: none; body: none; answer: Schemas["EvaluationResponse"] };
  evaluateCall: { path: { id: string }; query: none; body: none; answer: Schemas["EvaluationResponse"] };
  listChatEvaluations: { path: { id: string }; query: { limit?: number; cursor?: string }; body: none; answer: Schemas["EvaluationPage"] };
  listCallEvaluations: { path: { id: string }; query: { limit?: number; cursor?: string }; body: none; answer: Schemas["EvaluationPage"] };
  getEvaluation: { path: { id: string }; query: none; body: none; answer: Schemas["EvaluationResponse"] };
  setEvaluationMarks: { path: { id: string }; query: none; body: Schemas["NewEvaluationMarks"]; answer: Schemas["EvaluationResponse"] };
  previewEvaluationSweep: { path: none; query: none; body: Schemas["NewEvaluationSweep"]; answer: Schemas["SweepPreviewResponse"] };
  startEvaluationSweep: { path: none; query: none; body: Schemas["NewEvaluationSweep"]; answer: Schemas["EvaluationSweepResponse"] };
  listEvaluationSweeps: { path: none; query: { limit?: number; cursor?: string }; body: none; answer: Schemas["EvaluationSweepPage"] };
  getEvaluationSweep: { path: { id: string }; query: none; body: none; answer: Schemas["EvaluationSweepResponse"] };
  cancelEvaluationSweep: { path: { id: string }; query: none; body: none; answer: Schemas["EvaluationSweepResponse"] };
  getEvaluationSummary: { path: none; query: { agentId: string; from?: string; to?: string; kind: "chat" | "call" }; body: none; answer: Schemas["EvaluationSummaryResponse"] };
  getEvaluationAgreement: { path: none; query: { agentId: string; from?: string; to?: string }; body: none; answer: Schemas["EvaluationAgreementResponse"] };
  listDataStreams: { path: none; query: none; body: none; answer: Schemas["DataStreamList"] };
  createDataStream: { path: none; query: none; body: Schemas["NewDataStream"]; answer: Schemas["CreatedDataStreamResponse"] };
  getDataStream: { path: { id: string }; query: none; body: none; answer: Schemas["DataStreamDetailResponse"] };
  updateDataStream: { path: { id: string }; query: none; body: Schemas["DataStreamChange"]; answer: Schemas["DataStreamDetailResponse"] };
  deleteDataStream: { path: { id: string }; query: none; body: none; answer: Schemas["DeletedResponse"] };
  rotateDataStreamToken: { path: { id: string }; query: none; body: none; answer: Schemas["DataStreamTokenResponse"] };
  pushRecords: { path: { id: string }; query: none; body: Schemas["PushedRecords"]; answer: Schemas["IngestedResponse"] };
  listStreamRecords: { path: { id: string }; query: { limit?: number; before?: string }; body: none; answer: Schemas["StreamRecordPage"] };
  listCampaignStreams: { path: { id: string }; query: none; body: none; answer: Schemas["AttachedStreamList"] };
  attachStream: { path: { id: string; streamId: string }; query: none; body: Schemas["NewAttachment"]; answer: Schemas["StreamAttachmentResponse"] };
  detachStream: { path: { id: string; streamId: string }; query: none; body: none; answer: Schemas["DeletedResponse"] };
  listKnowledgeBases: { path: none; query: none; body: none; answer: Schemas["KnowledgeBaseList"] };
  createKnowledgeBase: { path: none; query: none; body: Schemas["NewKnowledgeBase"]; answer: Schemas["KnowledgeBaseResponse"] };
  getKnowledgeBase: { path: { id: string }; query: none; body: none; answer: Schemas["KnowledgeBaseDetailResponse"] };
  deleteKnowledgeBase: { path: { id: string }; query: none; body: none; answer: Schemas["DeletedResponse"] };
  addKnowledgeText: { path: { id: string }; query: none; body: Schemas["NewText"]; answer: Schemas["AddedDocumentResponse"] };
  removeKnowledgeDocument: { path: { id: string }; query: { source: string; type: "text" | "file" | "link" }; body: none; answer: Schemas["RemovedResponse"] };
  searchKnowledgeBase: { path: { id: string }; query: { q: string; limit?: number }; body: none; answer: Schemas["KnowledgeHitList"] };
  listDoNotCall: { path: none; query: { phone?: string; limit?: number; offset?: number }; body: none; answer: Schemas["CountedDoNotCallEntryList"] };
  addDoNotCall: { path: none; query: none; body: Schemas["NewDoNotCallNumbers"]; answer: Schemas["AddedNumbersResponse"] };
  verifyLog: { path: none; query: none; body: none; answer: Schemas["LogVerificationResponse"] };
  exportLog: { path: none; query: { from?: string | string; to?: string | string; format?: "csv" | "pdf"; chain?: Schemas["LogChain"] }; body: none; answer: undefined };
  getBlockedStats: { path: none; query: { from?: string | string; to?: string | string }; body: none; answer: Schemas["BlockedStatsResponse"] };
  getLogHead: { path: none; query: { chain?: Schemas["LogChain"] }; body: none; answer: Schemas["LogHeadResponse"] };
  listLogRecords: { path: none; query: { from?: string | string; to?: string | string; day?: string; number?: string; callId?: string; gate?: string; verdict?: Schemas["LogVerdict"]; chain?: Schemas["RecordChain"]; limit?: number; cursor?: string }; body: none; answer: Schemas["LogRecordPage"] };
  getLogRecord: { path: { id: string }; query: none; body: none; answer: Schemas["LogRecordResponse"] };
  listActions: { path: none; query: { from?: string | string; to?: string | string; actor?: string; operation?: string; objectId?: string; limit?: number; cursor?: string }; body: none; answer: Schemas["ActionPage"] };
  revealContact: { path: { id: string }; query: none; body: none; answer: Schemas["RevealedNumberResponse"] };
  revealCall: { path: { id: string }; query: none; body: none; answer: Schemas["RevealedNumberResponse"] };
  revealConversation: { path: { id: string }; query: none; body: none; answer: Schemas["RevealedNumberResponse"] };
  listNumbers: { path: none; query: none; body: none; answer: Schemas["NumberList"] };
  setInboundAgent: { path: { id: string }; query: none; body: Schemas["InboundAgent"]; answer: Schemas["NumberResponse"] };
  getWallet: { path: none; query: none; body: none; answer: Schemas["WalletResponse"] };
  listWalletTransactions: { path: none; query: { limit?: number; offset?: number }; body: none; answer: Schemas["CountedWalletTransactionList"] };
  listWebhooks: { path: none; query: none; body: none; answer: Schemas["WebhookEndpointPage"] };
  createWebhook: { path: none; query: none; body: Schemas["NewWebhookEndpoint"]; answer: Schemas["CreatedWebhookEndpointResponse"] };
  getWebhook: { path: { id: string }; query: none; body: none; answer: Schemas["WebhookEndpointResponse"] };
  updateWebhook: { path: { id: string }; query: none; body: Schemas["WebhookEndpointChange"]; answer: Schemas["WebhookEndpointResponse"] };
  deleteWebhook: { path: { id: string }; query: none; body: none; answer: Schemas["DeletedResponse"] };
  rotateWebhookSecret: { path: { id: string }; query: none; body: none; answer: Schemas["WebhookSecretResponse"] };
  testWebhook: { path: { id: string }; query: none; body: Schemas["WebhookTest"]; answer: Schemas["TestedWebhookResponse"] };
  listWebhookDeliveries: { path: { id: string }; query: { callId?: string; eventId?: string; status?: Schemas["DeliveryStatus"]; event?: Schemas["EventType"]; limit?: number; cursor?: string }; body: none; answer: Schemas["DeliveryPage"] };
  replayFailedDeliveries: { path: { id: string }; query: none; body: Schemas["FailedReplay"]; answer: Schemas["ReplayedDeliveriesResponse"] };
  getWebhookDelivery: { path: { id: string; deliveryId: string }; query: none; body: none; answer: Schemas["DeliveryResponse"] };
  replayWebhookDelivery: { path: { id: string; deliveryId: string }; query: none; body: none; answer: Schemas["DeliveryResponse"] };
  listEvents: { path: none; query: { after?: string; wait?: number; limit?: number }; body: none; answer: Schemas["EventStream"] };
  triggerEvent: { path: none; query: none; body: Schemas["EventTrigger"]; answer: Schemas["TriggeredEventResponse"] };
  streamChanges: { path: none; query: { topics?: string }; body: none; answer: undefined };
  listAttention: { path: none; query: none; body: none; answer: Schemas["AttentionItemList"] };
  listNotifications: { path: none; query: { limit?: number; cursor?: string }; body: none; answer: Schemas["NotificationPage"] };
  readNotifications: { path: none; query: none; body: Schemas["ReadNotifications"]; answer: Schemas["NotificationsReadResponse"] };
  getOpenApi: { path: none; query: none; body: none; answer: Record<string, unknown> };
  getSignInMethods: { path: none; query: none; body: none; answer: Schemas["SignInMethodsResponse"] };
  signIn: { path: none; query: none; body: Schemas["SignIn"]; answer: Schemas["SignedInPersonResponse"] };
  signOut: { path: none; query: none; body: none; answer: undefined };
  getMe: { path: none; query: none; body: none; answer: Schemas["SignedInPersonResponse"] };
  updateMe: { path: none; query: none; body: Schemas["ProfileChange"]; answer: Schemas["SignedInPersonResponse"] };
  changePassword: { path: none; query: none; body: Schemas["PasswordChange"]; answer: undefined };
  listSessions: { path: none; query: none; body: none; answer: Schemas["ConsoleSessionList"] };
  revokeOtherSessions: { path: none; query: none; body: none; answer: Schemas["RevokedSessionsResponse"] };
  revokeSession: { path: { id: string }; query: none; body: none; answer: undefined };
  listWorkspaceMembers: { path: none; query: none; body: none; answer: Schemas["WorkspaceMemberList"] };
  updateMember: { path: { id: string }; query: none; body: Schemas["MemberChange"]; answer: Schemas["WorkspaceMemberResponse"] };
  removeMember: { path: { id: string }; query: none; body: none; answer: undefined };
  inviteMember: { path: none; query: none; body: Schemas["NewInvitation"]; answer: Schemas["MemberInvitationResponse"] };
  listInvitations: { path: none; query: none; body: none; answer: Schemas["MemberInvitationList"] };
  revokeInvitation: { path: { id: string }; query: none; body: none; answer: undefined };
  acceptInvitation: { path: none; query: none; body: Schemas["AcceptInvitation"]; answer: Schemas["SignedInPersonResponse"] };
  useSignInLink: { path: none; query: none; body: Schemas["UseSignInLink"]; answer: Schemas["SignedInPersonResponse"] };
  findCampaign: { path: { id: string }; query: none; body: none; answer: Schemas["CampaignPlaceResponse"] };
  startListImport: { path: { ws: string; id: string }; query: none; body: none; answer: Schemas["ListImportResponse"] };
  addListImportRows: { path: { ws: string; id: string; import: string }; query: none; body: Schemas["ListImportPiece"]; answer: Schemas["ListImportResponse"] };
  finishListImport: { path: { ws: string; id: string; import: string }; query: none; body: none; answer: Schemas["ListImportResponse"] };
  cancelListImport: { path: { ws: string; id: string; import: string }; query: none; body: none; answer: Schemas["RemovedResponse"] };
  getBoard: { path: { ws: string; id: string }; query: none; body: none; answer: Schemas["BoardSettingsResponse"] };
  updateBoard: { path: { ws: string; id: string }; query: none; body: Schemas["BoardChange"]; answer: Schemas["BoardSettingsResponse"] };
  getBoardCard: { path: { ws: string; id: string; cardId: string }; query: none; body: none; answer: Schemas["CardDetailResponse"] };
  addKnowledgeFile: { path: { ws: string; id: string }; query: none; body: FormData; answer: Schemas["AddedSourceResponse"] };
  listChats: { path: { ws: string }; query: { state?: "ai" | "awaiting_human" | "human" | "ended"; limit?: number; cursor?: string }; body: none; answer: Schemas["InboxChatPage"] };
  getChat: { path: { ws: string; id: string }; query: none; body: none; answer: Schemas["InboxChatDetailResponse"] };
  takeChatOver: { path: { ws: string; id: string }; query: none; body: Schemas["ChatTakeover"]; answer: Schemas["InboxChatResponse"] };
  writeChatMessage: { path: { ws: string; id: string }; query: none; body: Schemas["NewTeammateMessage"]; answer: Schemas["InboxChatResponse"] };
  handChatBack: { path: { ws: string; id: string }; query: none; body: none; answer: Schemas["InboxChatResponse"] };
  endChat: { path: { ws: string; id: string }; query: none; body: none; answer: Schemas["InboxChatResponse"] };
  getBusinessHours: { path: { ws: string; id: string }; query: none; body: none; answer: Schemas["AgentHoursResponse"] };
  setBusinessHours: { path: { ws: string; id: string }; query: none; body: Schemas["BusinessHours"]; answer: Schemas["AgentHoursResponse"] };
  removeBusinessHours: { path: { ws: string; id: string }; query: none; body: none; answer: Schemas["AgentHoursResponse"] };
  putChannelConnection: { path: { ws: string }; query: none; body: Schemas["NewChannelConnection"]; answer: Schemas["ChannelConnectionResponse"] };
  getChannelConnection: { path: { ws: string }; query: none; body: none; answer: Schemas["ChannelConnectionResponse"] };
  deleteChannelConnection: { path: { ws: string }; query: none; body: none; answer: Schemas["RemovedResponse"] };
  bindChannelNumber: { path: { ws: string }; query: none; body: Schemas["NewChannelNumber"]; answer: Schemas["BoundChannelNumberResponse"] };
  listBoundChannelNumbers: { path: { ws: string }; query: none; body: none; answer: Schemas["BoundChannelNumberList"] };
  releaseChannelNumber: { path: { ws: string; id: string }; query: none; body: none; answer: Schemas["DeletedResponse"] };
  listChatLabels: { path: { ws: string }; query: none; body: none; answer: Schemas["ChatLabelList"] };
  createChatLabel: { path: { ws: string }; query: none; body: Schemas["NewChatLabel"]; answer: Schemas["ChatLabelResponse"] };
  deleteChatLabel: { path: { ws: string; id: string }; query: none; body: none; answer: Schemas["DeletedResponse"] };
  setChatLabels: { path: { ws: string; id: string }; query: none; body: Schemas["ChatLabels"]; answer: Schemas["ChatLabelList"] };
  listDocuments: { path: { ws: string }; query: { chatId?: string; limit?: number; cursor?: string }; body: none; answer: Schemas["ReceivedDocumentPage"] };
  getDocument: { path: { ws: string; id: string }; query: none; body: none; answer: Schemas["ReceivedDocumentResponse"] };
  getDocumentFile: { path: { ws: string; id: string }; query: { part?: string }; body: none; answer: undefined };
  reviewDocument: { path: { ws: string; id: string }; query: none; body: Schemas["DocumentReview"]; answer: Schemas["ReceivedDocumentResponse"] };
  liftOptOut: { path: { ws: string; id: string }; query: none; body: none; answer: Schemas["ContactResponse"] };
  removeDoNotCall: { path: { ws: string; phone: string }; query: none; body: none; answer: Schemas["RemovedResponse"] };
  acceptLog: { path: { ws: string }; query: none; body: Schemas["AcceptLog"]; answer: Schemas["AcceptedLogResponse"] };
  getOperatorOpenApi: { path: none; query: none; body: none; answer: Record<string, unknown> };
  createWorkspace: { path: none; query: none; body: Schemas["NewWorkspace"]; answer: Schemas["WorkspaceResponse"] };
  listWorkspaces: { path: none; query: { limit?: number; cursor?: string }; body: none; answer: Schemas["WorkspacePage"] };
  getWorkspace: { path: { ws: string }; query: none; body: none; answer: Schemas["WorkspaceResponse"] };
  updateWorkspace: { path: { ws: string }; query: none; body: Schemas["WorkspaceChange"]; answer: Schemas["WorkspaceResponse"] };
  createKey: { path: { ws: string }; query: none; body: Schemas["NewApiKey"]; answer: Schemas["ApiKeyResponse"] };
  listKeys: { path: { ws: string }; query: none; body: none; answer: Schemas["ApiKeyList"] };
  rotateKey: { path: { ws: string; key: string }; query: none; body: Schemas["RotateKey"]; answer: Schemas["ApiKeyResponse"] };
  revokeKey: { path: { ws: string; key: string }; query: none; body: none; answer: Schemas["ApiKeyResponse"] };
  createWalletEntry: { path: { ws: string }; query: none; body: Schemas["NewWalletEntry"]; answer: Schemas["WalletTransactionResponse"] };
  listWalletEntries: { path: { ws: string }; query: { limit?: number; offset?: number }; body: none; answer: Schemas["CountedWalletTransactionList"] };
  createNumber: { path: { ws: string }; query: none; body: Schemas["NewNumber"]; answer: Schemas["NumberResponse"] };
  listWorkspaceNumbers: { path: { ws: string }; query: none; body: none; answer: Schemas["NumberList"] };
  updateNumber: { path: { ws: string; id: string }; query: none; body: Schemas["NumberUpdate"]; answer: Schemas["NumberResponse"] };
  releaseNumber: { path: { ws: string; id: string }; query: none; body: none; answer: Schemas["NumberResponse"] };
  createMember: { path: { ws: string }; query: none; body: Schemas["NewMember"]; answer: Schemas["MemberResponse"] };
  listMembers: { path: { ws: string }; query: none; body: none; answer: Schemas["MemberList"] };
  listOperatorLog: { path: none; query: { limit?: number; cursor?: string }; body: none; answer: Schemas["OperatorLogEntryPage"] };
  getNode: { path: none; query: none; body: none; answer: Schemas["NodeResponse"] };
  drain: { path: none; query: none; body: none; answer: Schemas["NodeResponse"] };
  undrain: { path: none; query: none; body: none; answer: Schemas["NodeResponse"] };
  addDnd: { path: none; query: none; body: Schemas["NewDndNumbers"]; answer: Schemas["AddedNumbersResponse"] };
  removeDnd: { path: { phone: string }; query: none; body: none; answer: Schemas["RemovedResponse"] };
  startDndImport: { path: none; query: none; body: none; answer: Schemas["DndImportResponse"] };
  addDndImportNumbers: { path: { import: string }; query: none; body: Schemas["DndImportPiece"]; answer: Schemas["DndImportedResponse"] };
  finishDndImport: { path: { import: string }; query: none; body: none; answer: Schemas["DndImportResponse"] };
  cancelDndImport: { path: { import: string }; query: none; body: none; answer: Schemas["RemovedResponse"] };
  createTransferNumber: { path: { ws: string }; query: none; body: Schemas["NewTransferNumber"]; answer: Schemas["TransferNumberResponse"] };
  listTransferNumbers: { path: { ws: string }; query: none; body: none; answer: Schemas["TransferNumberList"] };
  deleteTransferNumber: { path: { ws: string; number: string }; query: none; body: none; answer: Schemas["RemovedResponse"] };
  lockAgent: { path: { ws: string; id: string }; query: none; body: none; answer: Schemas["AgentLockResponse"] };
  unlockAgent: { path: { ws: string; id: string }; query: none; body: none; answer: Schemas["AgentLockResponse"] };
  createTool: { path: { ws: string }; query: none; body: Schemas["NewTool"]; answer: Schemas["ToolResponse"] };
  listWorkspaceTools: { path: { ws: string }; query: none; body: none; answer: Schemas["ToolList"] };
  deleteTool: { path: { ws: string; id: string }; query: none; body: none; answer: Schemas["DeletedResponse"] };
  createCompliancePack: { path: { ws: string }; query: none; body: Schemas["NewCompliancePack"]; answer: Schemas["CompliancePackResponse"] };
  listCompliancePacks: { path: { ws: string }; query: none; body: none; answer: Schemas["CompliancePackList"] };
  createIntegration: { path: { ws: string }; query: none; body: Schemas["NewIntegration"]; answer: Schemas["IntegrationResponse"] };
  listIntegrations: { path: { ws: string }; query: none; body: none; answer: Schemas["IntegrationList"] };
  updateIntegration: { path: { ws: string; id: string }; query: none; body: Schemas["IntegrationChange"]; answer: Schemas["IntegrationResponse"] };
  deleteIntegration: { path: { ws: string; id: string }; query: none; body: none; answer: Schemas["DeletedResponse"] };
  createSignInLink: { path: none; query: none; body: Schemas["NewSignInLink"]; answer: Schemas["SignInLinkResponse"] };
}

export type OperationId = keyof Operations;

/** Method, path and the least role of a member. */
export const OPERATIONS: { readonly [K in OperationId]: readonly [method: string, path: string, role: Role] } = {
  getAccount: ["GET", "/v1/me", "viewer"],
  getOwnWorkspace: ["GET", "/v1/workspace", "viewer"],
  updateOwnWorkspace: ["PATCH", "/v1/workspace", "admin"],
  listAgents: ["GET", "/v1/agents", "viewer"],
  createAgent: ["POST", "/v1/agents", "editor"],
  getAgent: ["GET", "/v1/agents/{id}", "viewer"],
  updateAgent: ["PUT", "/v1/agents/{id}", "editor"],
  deleteAgent: ["DELETE", "/v1/agents/{id}", "owner"],
  setAgentStatus: ["POST", "/v1/agents/{id}/status", "admin"],
  getFlow: ["GET", "/v1/agents/{id}/flow", "viewer"],
  saveFlow: ["PUT", "/v1/agents/{id}/flow", "editor"],
  publishFlow: ["POST", "/v1/agents/{id}/flow/publish", "admin"],
  listVoices: ["GET", "/v1/voices", "viewer"],
  listFlowVersions: ["GET", "/v1/agents/{id}/flow/versions", "viewer"],
  getFlowVersion: ["GET", "/v1/agents/{id}/flow/versions/{number}", "viewer"],
  compareFlowVersions: ["GET", "/v1/agents/{id}/flow/versions/{number}/diff", "viewer"],
  restoreFlowVersion: ["POST", "/v1/agents/{id}/flow/versions/{number}/restore", "editor"],
  getFlowVisits: ["GET", "/v1/agents/{id}/flow/visits", "viewer"],
  setFlowPresence: ["PUT", "/v1/agents/{id}/flow/presence", "editor"],
  tryFlow: ["POST", "/v1/agents/{id}/flow/try", "editor"],
  getFlowTry: ["GET", "/v1/agents/{id}/flow/try/{try}", "viewer"],
  endFlowTry: ["DELETE", "/v1/agents/{id}/flow/try/{try}", "editor"],
  sendTryMessage: ["POST", "/v1/agents/{id}/flow/try/{try}/messages", "editor"],
  goBackInTry: ["POST", "/v1/agents/{id}/flow/try/{try}/back", "editor"],
  createTestLink: ["POST", "/v1/agents/{id}/test-links", "editor"],
  listTestLinks: ["GET", "/v1/agents/{id}/test-links", "viewer"],
  revokeTestLink: ["DELETE", "/v1/agents/{id}/test-links/{link}", "editor"],
  listTools: ["GET", "/v1/tools", "viewer"],
  placeCall: ["POST", "/v1/calls", "editor"],
  listCalls: ["GET", "/v1/calls", "viewer"],
  countCalls: ["GET", "/v1/calls/counts", "viewer"],
  getCallTurns: ["GET", "/v1/calls/{id}/turns", "viewer"],
  getCallPeaks: ["GET", "/v1/calls/{id}/peaks", "viewer"],
  getCall: ["GET", "/v1/calls/{id}", "viewer"],
  hangUpCall: ["POST", "/v1/calls/{id}/hangup", "editor"],
  listLiveCalls: ["GET", "/v1/calls/live", "viewer"],
  search: ["GET", "/v1/search", "viewer"],
  getRecording: ["GET", "/v1/recordings/{id}", "viewer"],
  scheduleCall: ["POST", "/v1/scheduled-calls", "editor"],
  listScheduledCalls: ["GET", "/v1/scheduled-calls", "viewer"],
  getScheduledCall: ["GET", "/v1/scheduled-calls/{id}", "viewer"],
  cancelScheduledCall: ["DELETE", "/v1/scheduled-calls/{id}", "editor"],
  getScheduledCallTimeline: ["GET", "/v1/scheduled-calls/{id}/timeline", "viewer"],
  getCallTimeline: ["GET", "/v1/calls/{id}/timeline", "viewer"],
  createNudge: ["POST", "/v1/nudges", "editor"],
  listNudges: ["GET", "/v1/nudges", "viewer"],
  cancelNudges: ["POST", "/v1/nudges/cancel", "editor"],
  preflightNudge: ["POST", "/v1/nudges/preflight", "editor"],
  getNudge: ["GET", "/v1/nudges/{id}", "viewer"],
  cancelNudge: ["POST", "/v1/nudges/{id}/cancel", "editor"],
  getNudgeTimeline: ["GET", "/v1/nudges/{id}/timeline", "viewer"],
  listCampaigns: ["GET", "/v1/campaigns", "viewer"],
  createCampaign: ["POST", "/v1/campaigns", "editor"],
  getCampaign: ["GET", "/v1/campaigns/{id}", "viewer"],
  updateCampaign: ["PUT", "/v1/campaigns/{id}", "editor"],
  deleteCampaign: ["DELETE", "/v1/campaigns/{id}", "admin"],
  setCampaignStatus: ["POST", "/v1/campaigns/{id}/status", "admin"],
  setCampaignContacts: ["POST", "/v1/campaigns/{id}/contacts", "editor"],
  listCampaignContacts: ["GET", "/v1/campaigns/{id}/contacts", "viewer"],
  runCampaign: ["POST", "/v1/campaigns/{id}/run", "admin"],
  listCampaignRuns: ["GET", "/v1/campaigns/{id}/runs", "viewer"],
  getCampaignRun: ["GET", "/v1/campaign-runs/{id}", "viewer"],
  getCampaignSummary: ["GET", "/v1/campaigns/{id}/summary", "viewer"],
  preflightCampaign: ["POST", "/v1/campaigns/{id}/preflight", "editor"],
  preflightNudges: ["POST", "/v1/nudges/preflight-batch", "editor"],
  openStagedList: ["POST", "/v1/campaigns/{id}/staged-lists", "editor"],
  listStagedLists: ["GET", "/v1/campaigns/{id}/staged-lists", "viewer"],
  addStagedRows: ["POST", "/v1/campaigns/{id}/staged-lists/{list}/rows", "editor"],
  listStagedRows: ["GET", "/v1/campaigns/{id}/staged-lists/{list}/rows", "viewer"],
  preflightStagedList: ["GET", "/v1/campaigns/{id}/staged-lists/{list}/preflight", "viewer"],
  editStagedRow: ["PATCH", "/v1/campaigns/{id}/staged-lists/{list}/rows/{row}", "editor"],
  exportStagedFindings: ["GET", "/v1/campaigns/{id}/staged-lists/{list}/findings", "admin"],
  applyStagedList: ["POST", "/v1/campaigns/{id}/staged-lists/{list}/apply", "editor"],
  deleteStagedList: ["DELETE", "/v1/campaigns/{id}/staged-lists/{list}", "editor"],
  getCampaignBoard: ["GET", "/v1/campaigns/{id}/board", "viewer"],
  getAgentBoard: ["GET", "/v1/agents/{id}/board", "viewer"],
  listCampaignCards: ["GET", "/v1/campaigns/{id}/board/cards", "viewer"],
  listAgentCards: ["GET", "/v1/agents/{id}/board/cards", "viewer"],
  moveCampaignCard: ["PATCH", "/v1/campaigns/{id}/board/cards/{cardId}", "editor"],
  moveAgentCard: ["PATCH", "/v1/agents/{id}/board/cards/{cardId}", "editor"],
  getCampaignCardHistory: ["GET", "/v1/campaigns/{id}/board/cards/{cardId}/history", "viewer"],
  getAgentCardHistory: ["GET", "/v1/agents/{id}/board/cards/{cardId}/history", "viewer"],
  undoCampaignCardMove: ["POST", "/v1/campaigns/{id}/board/cards/{cardId}/undo", "editor"],
  undoAgentCardMove: ["POST", "/v1/agents/{id}/board/cards/{cardId}/undo", "editor"],
  addKnowledgeLink: ["POST", "/v1/knowledge-bases/{id}/links", "editor"],
  getCallAnalytics: ["GET", "/v1/analytics/calls", "viewer"],
  listContacts: ["GET", "/v1/contacts", "viewer"],
  upsertContact: ["POST", "/v1/contacts", "editor"],
  getContact: ["GET", "/v1/contacts/{id}", "viewer"],
  updateContact: ["PUT", "/v1/contacts/{id}", "editor"],
  deleteContact: ["DELETE", "/v1/contacts/{id}", "editor"],
  upsertContacts: ["POST", "/v1/contacts/batch", "editor"],
  eraseContact: ["POST", "/v1/contacts/{id}/erase", "owner"],
  openChatSession: ["POST", "/v1/chat/sessions", "editor"],
  sendChatMessage: ["POST", "/v1/chat/sessions/{id}/messages", "editor"],
  getChatSession: ["GET", "/v1/chat/sessions/{id}", "viewer"],
  endChatSession: ["POST", "/v1/chat/sessions/{id}/end", "editor"],
  listInbox: ["GET", "/v1/inbox", "viewer"],
  countInbox: ["GET", "/v1/inbox/counts", "viewer"],
  listInboxTeam: ["GET", "/v1/inbox/team", "viewer"],
  setInboxCeiling: ["PUT", "/v1/inbox/team/{id}", "admin"],
  setInboxAvailability: ["PUT", "/v1/inbox/availability", "editor"],
  getInboxSettings: ["GET", "/v1/inbox/assignment", "viewer"],
  setInboxSettings: ["PUT", "/v1/inbox/assignment", "admin"],
  getInboxChat: ["GET", "/v1/inbox/{id}", "viewer"],
  takeInboxChat: ["POST", "/v1/inbox/{id}/takeover", "editor"],
  assignInboxChat: ["POST", "/v1/inbox/{id}/assign", "editor"],
  writeInboxMessage: ["POST", "/v1/inbox/{id}/messages", "editor"],
  handInboxChatBack: ["POST", "/v1/inbox/{id}/handback", "editor"],
  endInboxChat: ["POST", "/v1/inbox/{id}/end", "editor"],
  markInboxChatRead: ["PUT", "/v1/inbox/{id}/read", "viewer"],
  listChatNotes: ["GET", "/v1/inbox/{id}/notes", "viewer"],
  createChatNote: ["POST", "/v1/inbox/{id}/notes", "editor"],
  listSavedAnswers: ["GET", "/v1/saved-answers", "viewer"],
  createSavedAnswer: ["POST", "/v1/saved-answers", "editor"],
  updateSavedAnswer: ["PUT", "/v1/saved-answers/{id}", "editor"],
  deleteSavedAnswer: ["DELETE", "/v1/saved-answers/{id}", "editor"],
  listChannelNumbers: ["GET", "/v1/chatapp/numbers", "viewer"],
  startConversation: ["POST", "/v1/chatapp/conversations", "editor"],
  listConversations: ["GET", "/v1/chatapp/conversations", "viewer"],
  getConversation: ["GET", "/v1/chatapp/conversations/{id}", "viewer"],
  endConversation: ["POST", "/v1/chatapp/conversations/{id}/end", "editor"],
  takeConversationOver: ["POST", "/v1/chatapp/conversations/{id}/takeover", "editor"],
  handConversationBack: ["POST", "/v1/chatapp/conversations/{id}/handback", "editor"],
  assignConversation: ["POST", "/v1/chatapp/conversations/{id}/assign", "editor"],
  listAssignees: ["GET", "/v1/chatapp/assignees", "viewer"],
  sendChannelMessage: ["POST", "/v1/chatapp/messages", "editor"],
  listChannelMessages: ["GET", "/v1/chatapp/messages", "viewer"],
  getChannelMessage: ["GET", "/v1/chatapp/messages/{id}", "viewer"],
  getChannelMessageMedia: ["GET", "/v1/chatapp/messages/{id}/media", "editor"],
  listChannelTemplates: ["GET", "/v1/chatapp/templates", "viewer"],
  createChannelTemplate: ["POST", "/v1/chatapp/templates", "editor"],
  syncChannelTemplates: ["POST", "/v1/chatapp/templates/sync", "editor"],
  uploadHeaderSample: ["POST", "/v1/chatapp/templates/header-sample", "editor"],
  getChannelTemplate: ["GET", "/v1/chatapp/templates/{id}", "viewer"],
  updateChannelTemplate: ["PATCH", "/v1/chatapp/templates/{id}", "editor"],
  deleteChannelTemplate: ["DELETE", "/v1/chatapp/templates/{id}", "editor"],
  uploadDocument: ["POST", "/v1/chat/sessions/{id}/documents", "editor"],
  getAgentEvaluation: ["GET", "/v1/agents/{id}/evaluation", "viewer"],
  setAgentEvaluation: ["PUT", "/v1/agents/{id}/evaluation", "editor"],
  tryEvaluation: ["POST", "/v1/agents/{id}/evaluation/try", "editor"],
  evaluateChat: ["POST", "/v1/chats/{id}/evaluate", "editor"],
  evaluateCall: ["POST", "/v1/calls/{id}/evaluate", "editor"],
  listChatEvaluations: ["GET", "/v1/chats/{id}/evaluations", "viewer"],
  listCallEvaluations: ["GET", "/v1/calls/{id}/evaluations", "viewer"],
  getEvaluation: ["GET", "/v1/evaluations/runs/{id}", "viewer"],
  setEvaluationMarks: ["PUT", "/v1/evaluations/runs/{id}/marks", "editor"],
  previewEvaluationSweep: ["POST", "/v1/evaluations/sweeps/preview", "editor"],
  startEvaluationSweep: ["POST", "/v1/evaluations/sweeps", "admin"],
  listEvaluationSweeps: ["GET", "/v1/evaluations/sweeps", "viewer"],
  getEvaluationSweep: ["GET", "/v1/evaluations/sweeps/{id}", "viewer"],
  cancelEvaluationSweep: ["POST", "/v1/evaluations/sweeps/{id}/cancel", "editor"],
  getEvaluationSummary: ["GET", "/v1/evaluations/summary", "viewer"],
  getEvaluationAgreement: ["GET", "/v1/evaluations/agreement", "viewer"],
  listDataStreams: ["GET", "/v1/data-streams", "viewer"],
  createDataStream: ["POST", "/v1/data-streams", "editor"],
  getDataStream: ["GET", "/v1/data-streams/{id}", "viewer"],
  updateDataStream: ["PATCH", "/v1/data-streams/{id}", "editor"],
  deleteDataStream: ["DELETE", "/v1/data-streams/{id}", "admin"],
  rotateDataStreamToken: ["POST", "/v1/data-streams/{id}/rotate-token", "admin"],
  pushRecords: ["POST", "/v1/data-streams/{id}/records", "editor"],
  listStreamRecords: ["GET", "/v1/data-streams/{id}/records", "viewer"],
  listCampaignStreams: ["GET", "/v1/campaigns/{id}/streams", "viewer"],
  attachStream: ["PUT", "/v1/campaigns/{id}/streams/{streamId}", "editor"],
  detachStream: ["DELETE", "/v1/campaigns/{id}/streams/{streamId}", "editor"],
  listKnowledgeBases: ["GET", "/v1/knowledge-bases", "viewer"],
  createKnowledgeBase: ["POST", "/v1/knowledge-bases", "editor"],
  getKnowledgeBase: ["GET", "/v1/knowledge-bases/{id}", "viewer"],
  deleteKnowledgeBase: ["DELETE", "/v1/knowledge-bases/{id}", "admin"],
  addKnowledgeText: ["POST", "/v1/knowledge-bases/{id}/documents", "editor"],
  removeKnowledgeDocument: ["DELETE", "/v1/knowledge-bases/{id}/documents", "editor"],
  searchKnowledgeBase: ["GET", "/v1/knowledge-bases/{id}/search", "viewer"],
  listDoNotCall: ["GET", "/v1/dnc", "viewer"],
  addDoNotCall: ["POST", "/v1/dnc", "editor"],
  verifyLog: ["GET", "/v1/audit/verify", "viewer"],
  exportLog: ["GET", "/v1/audit/export", "admin"],
  getBlockedStats: ["GET", "/v1/audit/stats", "viewer"],
  getLogHead: ["GET", "/v1/audit/head", "viewer"],
  listLogRecords: ["GET", "/v1/audit/records", "viewer"],
  getLogRecord: ["GET", "/v1/audit/records/{id}", "viewer"],
  listActions: ["GET", "/v1/audit/actions", "viewer"],
  revealContact: ["POST", "/v1/contacts/{id}/reveal", "editor"],
  revealCall: ["POST", "/v1/calls/{id}/reveal", "editor"],
  revealConversation: ["POST", "/v1/chatapp/conversations/{id}/reveal", "editor"],
  listNumbers: ["GET", "/v1/numbers", "viewer"],
  setInboundAgent: ["PUT", "/v1/numbers/{id}/inbound-agent", "admin"],
  getWallet: ["GET", "/v1/wallet", "viewer"],
  listWalletTransactions: ["GET", "/v1/wallet/transactions", "viewer"],
  listWebhooks: ["GET", "/v1/webhooks", "viewer"],
  createWebhook: ["POST", "/v1/webhooks", "admin"],
  getWebhook: ["GET", "/v1/webhooks/{id}", "viewer"],
  updateWebhook: ["PATCH", "/v1/webhooks/{id}", "admin"],
  deleteWebhook: ["DELETE", "/v1/webhooks/{id}", "admin"],
  rotateWebhookSecret: ["POST", "/v1/webhooks/{id}/rotate-secret", "admin"],
  testWebhook: ["POST", "/v1/webhooks/{id}/test", "admin"],
  listWebhookDeliveries: ["GET", "/v1/webhooks/{id}/deliveries", "viewer"],
  replayFailedDeliveries: ["POST", "/v1/webhooks/{id}/deliveries/replay", "admin"],
  getWebhookDelivery: ["GET", "/v1/webhooks/{id}/deliveries/{deliveryId}", "viewer"],
  replayWebhookDelivery: ["POST", "/v1/webhooks/{id}/deliveries/{deliveryId}/replay", "admin"],
  listEvents: ["GET", "/v1/events", "admin"],
  triggerEvent: ["POST", "/v1/events/trigger", "admin"],
  streamChanges: ["GET", "/v1/stream", "viewer"],
  listAttention: ["GET", "/v1/attention", "viewer"],
  listNotifications: ["GET", "/v1/notifications", "viewer"],
  readNotifications: ["POST", "/v1/notifications/read", "viewer"],
  getOpenApi: ["GET", "/v1/openapi.json", "viewer"],
  getSignInMethods: ["GET", "/console/api/sign-in", "viewer"],
  signIn: ["POST", "/console/api/sign-in", "editor"],
  signOut: ["POST", "/console/api/sign-out", "editor"],
  getMe: ["GET", "/console/api/me", "viewer"],
  updateMe: ["PATCH", "/console/api/me", "editor"],
  changePassword: ["POST", "/console/api/me/password", "editor"],
  listSessions: ["GET", "/console/api/me/sessions", "viewer"],
  revokeOtherSessions: ["DELETE", "/console/api/me/sessions", "editor"],
  revokeSession: ["DELETE", "/console/api/me/sessions/{id}", "editor"],
  listWorkspaceMembers: ["GET", "/v1/members", "viewer"],
  updateMember: ["PATCH", "/v1/members/{id}", "admin"],
  removeMember: ["DELETE", "/v1/members/{id}", "admin"],
  inviteMember: ["POST", "/v1/members/invitations", "admin"],
  listInvitations: ["GET", "/v1/members/invitations", "admin"],
  revokeInvitation: ["DELETE", "/v1/members/invitations/{id}", "admin"],
  acceptInvitation: ["POST", "/console/api/invitations/accept", "editor"],
  useSignInLink: ["POST", "/console/api/sign-in/link", "editor"],
  findCampaign: ["GET", "/operator/v1/campaigns/{id}", "viewer"],
  startListImport: ["POST", "/operator/v1/workspaces/{ws}/campaigns/{id}/list-imports", "editor"],
  addListImportRows: ["POST", "/operator/v1/workspaces/{ws}/campaigns/{id}/list-imports/{import}/rows", "editor"],
  finishListImport: ["POST", "/operator/v1/workspaces/{ws}/campaigns/{id}/list-imports/{import}/finish", "editor"],
  cancelListImport: ["DELETE", "/operator/v1/workspaces/{ws}/campaigns/{id}/list-imports/{import}", "editor"],
  getBoard: ["GET", "/operator/v1/workspaces/{ws}/boards/{id}", "viewer"],
  updateBoard: ["PUT", "/operator/v1/workspaces/{ws}/boards/{id}", "editor"],
  getBoardCard: ["GET", "/operator/v1/workspaces/{ws}/boards/{id}/cards/{cardId}", "viewer"],
  addKnowledgeFile: ["POST", "/operator/v1/workspaces/{ws}/knowledge-bases/{id}/files", "editor"],
  listChats: ["GET", "/operator/v1/workspaces/{ws}/chats", "viewer"],
  getChat: ["GET", "/operator/v1/workspaces/{ws}/chats/{id}", "viewer"],
  takeChatOver: ["POST", "/operator/v1/workspaces/{ws}/chats/{id}/takeover", "editor"],
  writeChatMessage: ["POST", "/operator/v1/workspaces/{ws}/chats/{id}/messages", "editor"],
  handChatBack: ["POST", "/operator/v1/workspaces/{ws}/chats/{id}/handback", "editor"],
  endChat: ["POST", "/operator/v1/workspaces/{ws}/chats/{id}/end", "editor"],
  getBusinessHours: ["GET", "/operator/v1/workspaces/{ws}/agents/{id}/business-hours", "viewer"],
  setBusinessHours: ["PUT", "/operator/v1/workspaces/{ws}/agents/{id}/business-hours", "editor"],
  removeBusinessHours: ["DELETE", "/operator/v1/workspaces/{ws}/agents/{id}/business-hours", "editor"],
  putChannelConnection: ["PUT", "/operator/v1/workspaces/{ws}/chatapp/connection", "admin"],
  getChannelConnection: ["GET", "/operator/v1/workspaces/{ws}/chatapp/connection", "admin"],
  deleteChannelConnection: ["DELETE", "/operator/v1/workspaces/{ws}/chatapp/connection", "admin"],
  bindChannelNumber: ["POST", "/operator/v1/workspaces/{ws}/chatapp/numbers", "admin"],
  listBoundChannelNumbers: ["GET", "/operator/v1/workspaces/{ws}/chatapp/numbers", "viewer"],
  releaseChannelNumber: ["DELETE", "/operator/v1/workspaces/{ws}/chatapp/numbers/{id}", "admin"],
  listChatLabels: ["GET", "/operator/v1/workspaces/{ws}/chat-labels", "viewer"],
  createChatLabel: ["POST", "/operator/v1/workspaces/{ws}/chat-labels", "editor"],
  deleteChatLabel: ["DELETE", "/operator/v1/workspaces/{ws}/chat-labels/{id}", "editor"],
  setChatLabels: ["PUT", "/operator/v1/workspaces/{ws}/chats/{id}/labels", "editor"],
  listDocuments: ["GET", "/operator/v1/workspaces/{ws}/documents", "editor"],
  getDocument: ["GET", "/operator/v1/workspaces/{ws}/documents/{id}", "editor"],
  getDocumentFile: ["GET", "/operator/v1/workspaces/{ws}/documents/{id}/file", "editor"],
  reviewDocument: ["POST", "/operator/v1/workspaces/{ws}/documents/{id}/review", "editor"],
  liftOptOut: ["POST", "/operator/v1/workspaces/{ws}/contacts/{id}/lift-opt-out", "editor"],
  removeDoNotCall: ["DELETE", "/operator/v1/workspaces/{ws}/dnc/{phone}", "editor"],
  acceptLog: ["POST", "/operator/v1/workspaces/{ws}/audit/accept", "editor"],
  getOperatorOpenApi: ["GET", "/operator/v1/openapi.json", "viewer"],
  createWorkspace: ["POST", "/operator/v1/workspaces", "editor"],
  listWorkspaces: ["GET", "/operator/v1/workspaces", "viewer"],
  getWorkspace: ["GET", "/operator/v1/workspaces/{ws}", "viewer"],
  updateWorkspace: ["PATCH", "/operator/v1/workspaces/{ws}", "editor"],
  createKey: ["POST", "/operator/v1/workspaces/{ws}/keys", "admin"],
  listKeys: ["GET", "/operator/v1/workspaces/{ws}/keys", "admin"],
  rotateKey: ["POST", "/operator/v1/workspaces/{ws}/keys/{key}/rotate", "admin"],
  revokeKey: ["DELETE", "/operator/v1/workspaces/{ws}/keys/{key}", "admin"],
  createWalletEntry: ["POST", "/operator/v1/workspaces/{ws}/wallet/entries", "editor"],
  listWalletEntries: ["GET", "/operator/v1/workspaces/{ws}/wallet/entries", "viewer"],
  createNumber: ["POST", "/operator/v1/workspaces/{ws}/numbers", "editor"],
  listWorkspaceNumbers: ["GET", "/operator/v1/workspaces/{ws}/numbers", "viewer"],
  updateNumber: ["PATCH", "/operator/v1/workspaces/{ws}/numbers/{id}", "editor"],
  releaseNumber: ["DELETE", "/operator/v1/workspaces/{ws}/numbers/{id}", "editor"],
  createMember: ["POST", "/operator/v1/workspaces/{ws}/members", "editor"],
  listMembers: ["GET", "/operator/v1/workspaces/{ws}/members", "viewer"],
  listOperatorLog: ["GET", "/operator/v1/log", "viewer"],
  getNode: ["GET", "/operator/v1/node", "viewer"],
  drain: ["POST", "/operator/v1/node/drain", "editor"],
  undrain: ["POST", "/operator/v1/node/undrain", "editor"],
  addDnd: ["POST", "/operator/v1/dnd", "editor"],
  removeDnd: ["DELETE", "/operator/v1/dnd/{phone}", "editor"],
  startDndImport: ["POST", "/operator/v1/dnd-imports", "editor"],
  addDndImportNumbers: ["POST", "/operator/v1/dnd-imports/{import}/numbers", "editor"],
  finishDndImport: ["POST", "/operator/v1/dnd-imports/{import}/finish", "editor"],
  cancelDndImport: ["DELETE", "/operator/v1/dnd-imports/{import}", "editor"],
  createTransferNumber: ["POST", "/operator/v1/workspaces/{ws}/transfer-numbers", "admin"],
  listTransferNumbers: ["GET", "/operator/v1/workspaces/{ws}/transfer-numbers", "admin"],
  deleteTransferNumber: ["DELETE", "/operator/v1/workspaces/{ws}/transfer-numbers/{number}", "admin"],
  lockAgent: ["POST", "/operator/v1/workspaces/{ws}/agents/{id}/lock", "editor"],
  unlockAgent: ["POST", "/operator/v1/workspaces/{ws}/agents/{id}/unlock", "editor"],
  createTool: ["POST", "/operator/v1/workspaces/{ws}/tools", "admin"],
  listWorkspaceTools: ["GET", "/operator/v1/workspaces/{ws}/tools", "admin"],
  deleteTool: ["DELETE", "/operator/v1/workspaces/{ws}/tools/{id}", "admin"],
  createCompliancePack: ["POST", "/operator/v1/workspaces/{ws}/compliance-packs", "editor"],
  listCompliancePacks: ["GET", "/operator/v1/workspaces/{ws}/compliance-packs", "viewer"],
  createIntegration: ["POST", "/operator/v1/workspaces/{ws}/integrations", "admin"],
  listIntegrations: ["GET", "/operator/v1/workspaces/{ws}/integrations", "editor"],
  updateIntegration: ["PUT", "/operator/v1/workspaces/{ws}/integrations/{id}", "admin"],
  deleteIntegration: ["DELETE", "/operator/v1/workspaces/{ws}/integrations/{id}", "admin"],
  createSignInLink: ["POST", "/operator/v1/sign-in-links", "editor"],
};
